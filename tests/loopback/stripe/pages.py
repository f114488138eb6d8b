"""The checkout page, its extra step for cards that ask their holder, and an invoice's own page."""

from datetime import UTC, datetime

from aiohttp import web

from tests.loopback.stripe import cards, checkout, customers, html, invoicing, lines
from tests.loopback.stripe.errors import Refusal
from tests.loopback.stripe.gate import WORLD
from tests.loopback.stripe.money import shown
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)


def routes() -> list[web.RouteDef]:
    """What a customer's browser sees."""
    return [
        web.get("/pay/{id}", checkout_page),
        web.post("/pay/{id}", checkout_paid),
        web.get("/invoice/{id}", invoice_page),
        web.post("/invoice/{id}", invoice_paid),
        web.get("/invoice/{id}/pdf", invoice_pdf),
        web.get("/receipt/{id}", invoice_page),
    ]


def day(when: int) -> str:
    """A date for people."""
    return datetime.fromtimestamp(when, UTC).strftime("%-d %B %Y")


async def form_of(request: web.Request) -> dict[str, str]:
    """What was sent, as text."""
    return {name: str(value) for name, value in (await request.post()).items()}


def found(world: World, kind: str, given: str) -> Json:
    """Of the path; raises 404."""
    row = world.store.rows.get(kind, {}).get(given)
    if row is None:
        raise web.HTTPNotFound(text="There is nothing here.")
    return row


# --- Checkout -----------------------------------------------------------------------------------------------------


async def checkout_page(request: web.Request) -> web.Response:
    """What is bought, and the form."""
    world = request.app[WORLD]
    return _checkout(world, found(world, "checkout.session", request.match_info["id"]), {}, "")


def _checkout(world: World, session: Json, typed: dict[str, str], problem: str) -> web.Response:
    back = html.link(session["cancel_url"], "Back", "back") if session["cancel_url"] else ""
    if session["status"] != "open":
        return html.page("This page is over", html.said(f"The checkout is {session['status']}."), back, status=410)
    bought = [f"<li>{lines.product_name(world, world.store.get('price', entry['price']))}</li>"
              for entry in world.secret(session["id"])["wanted"]]  # fmt: skip
    customer = world.store.rows.get("customer", {}).get(session["customer"] or "", {})
    email = typed.get("email") or session["customer_email"] or customer.get("email") or ""
    fields = [html.field("email", "E-mail", email, "email", needed=not session["customer"]),
              html.field("name", "Name", typed.get("name") or customer.get("name") or "")]  # fmt: skip
    if session["allow_promotion_codes"]:
        fields.append(html.field("promotion_code", "Promotion code", typed.get("promotion_code", "")))
    if session["tax_id_collection"]["enabled"]:
        kinds = [(kind, kind) for kind in customers.FORMS]
        fields += [html.choice("tax_id_type", "Kind of tax id", kinds, typed.get("tax_id_type", "")),
                   html.field("tax_id", "Tax id", typed.get("tax_id", ""))]  # fmt: skip
    total = shown(session["amount_total"], session["currency"])
    return html.page(
        "Subscribe", html.problem(problem), f"<ul>{''.join(bought)}</ul>",
        f'<p>Due now: <strong data-testid="total">{total}</strong></p>',
        html.form(f"/pay/{session['id']}", *fields, html.card_choice(typed.get("card", "")), button="Subscribe",
                  name="pay"),
        back, status=402 if problem else 200,
    )  # fmt: skip


async def checkout_paid(request: web.Request) -> web.Response:
    """The button; away to the product when it worked. A second click on a paid one leads there too."""
    world, typed = request.app[WORLD], await form_of(request)
    session = found(world, "checkout.session", request.match_info["id"])
    if session["status"] == "complete":
        raise web.HTTPSeeOther(checkout.way_back(session))
    try:
        checkout.pay(world, session, typed)
    except Refusal as refusal:
        if refusal.error.get("code") == "authentication_required" and not typed.get("confirmed"):
            kept = [html.hidden(name, value) for name, value in typed.items()]
            return html.page(
                "Your bank asks you to confirm",
                html.form(f"/pay/{session['id']}", *kept, html.hidden("confirmed", "1"), button="Confirm",
                          name="confirm"),
                html.link(f"/pay/{session['id']}", "Refuse", "refuse"),
            )  # fmt: skip
        return _checkout(world, session, typed, str(refusal))
    raise web.HTTPSeeOther(checkout.way_back(session))


# --- Invoices -----------------------------------------------------------------------------------------------------


async def invoice_page(request: web.Request) -> web.Response:
    """Lines, total, and a form while it is open."""
    world = request.app[WORLD]
    return _invoice(found(world, "invoice", request.match_info["id"]), "")


def _invoice(invoice: Json, problem: str) -> web.Response:
    rows = "".join(f"<li>{row['description']}: {shown(row['amount'], invoice['currency'])}</li>"
                   for row in invoice["lines"]["data"])  # fmt: skip
    pay = html.form(f"/invoice/{invoice['id']}", html.card_choice(), button="Pay", name="pay")
    return html.page(
        f"Invoice {invoice['number'] or ''}", html.problem(problem), f"<ul>{rows}</ul>",
        html.said(f"{shown(invoice['amount_due'], invoice['currency'])}, {invoice['status']}"),
        pay if invoice["status"] == "open" else "",
    )  # fmt: skip


async def invoice_paid(request: web.Request) -> web.Response:
    """With a card that becomes the customer's own, holder present."""
    world, typed = request.app[WORLD], await form_of(request)
    invoice = found(world, "invoice", request.match_info["id"])
    try:
        card = cards.of(typed.get("card", ""))
        if not card.decline:
            method = customers.add_card(world, customers.living(world, invoice["customer"]), card.number)
            sub = invoicing.subscription_of(world, invoice)
            sub["default_payment_method"] = method["id"]
        code = card.decline or invoicing.collect(world, invoice, present=True)
        return _invoice(invoice, cards.WORDS.get(code, "Your card was declined.") if code else "")
    except Refusal as refusal:
        return _invoice(invoice, str(refusal))


async def invoice_pdf(request: web.Request) -> web.Response:
    """A document, if an empty one."""
    found(request.app[WORLD], "invoice", request.match_info["id"])
    return web.Response(body=PDF, content_type="application/pdf")
