"""Plain pages without JavaScript: enough for a browser, a person or a test to click through."""

from collections.abc import Iterable
from html import escape

from aiohttp import web

from tests.loopback.stripe.cards import CARDS

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color:#1a1a2e}"
    "h1{font-size:1.4rem}section{border:1px solid #ccd;border-radius:8px;padding:1rem;margin:1rem 0}"
    "label{display:block;margin:.4rem 0}"
    "input[type=text],input[type=email],select{padding:.4rem;width:100%;box-sizing:border-box}"
    "button{padding:.6rem 1rem;border:0;border-radius:6px;background:#4b3fd1;color:#fff;font:inherit;cursor:pointer}"
    "button.quiet{background:#667}.problem{background:#fdecea;border:1px solid #d33;padding:.6rem;border-radius:6px}"
    ".mark{background:#fff3c4;padding:.3rem .6rem;border-radius:4px;font-size:.85rem}"
)


def page(title: str, *parts: str, status: int = 200) -> web.Response:
    """The whole document; parts are HTML already."""
    body = "\n".join(parts)
    return web.Response(
        status=status, content_type="text/html", charset="utf-8",
        text=f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
             f'content="width=device-width,initial-scale=1"><title>{escape(title)}</title><style>{STYLE}</style></head>'
             f'<body><p class="mark">Loopback Stripe: no real money</p><h1>{escape(title)}</h1>{body}</body></html>',
    )  # fmt: skip


def problem(text: str) -> str:
    """What went wrong, announced."""
    return f'<p class="problem" role="alert" data-testid="problem">{escape(text)}</p>' if text else ""


def form(action: str, *parts: str, button: str, name: str = "", quiet: bool = False) -> str:
    """One POST form with one button; name: its data-testid."""
    look = ' class="quiet"' if quiet else ""
    return (f'<form method="post" action="{escape(action)}">{"".join(parts)}'
            f'<p><button type="submit" data-testid="{escape(name or button)}"{look}>{escape(button)}</button></p>'
            "</form>")  # fmt: skip


def hidden(name: str, value: str) -> str:
    """A value that goes along."""
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def field(name: str, label: str, value: str = "", kind: str = "text", *, needed: bool = False) -> str:
    """A line to type in."""
    must = " required" if needed else ""
    return f'<label>{escape(label)}<input type="{kind}" name="{escape(name)}" value="{escape(value)}"{must}></label>'


def choice(name: str, label: str, options: Iterable[tuple[str, str]], chosen: str = "") -> str:
    """One of several."""
    rows = "".join(f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
                   for value, text in options)  # fmt: skip
    return f'<label>{escape(label)}<select name="{escape(name)}">{rows}</select></label>'


def card_choice(chosen: str = "") -> str:
    """The test cards with what each does."""
    return choice("card", "Card", [(card.number, f"{card.brand} …{card.number[-4:]}: {card.says}")
                                   for card in CARDS.values()], chosen)  # fmt: skip


def section(title: str, *parts: str) -> str:
    """A part with a heading."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def link(url: str, text: str, name: str) -> str:
    """Away from here."""
    return f'<p><a href="{escape(url)}" data-testid="{escape(name)}">{escape(text)}</a></p>'


def said(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"
