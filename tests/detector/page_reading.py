"""What the page tests read pages with: the elements of an HTML text, its words, and rules that every page keeps."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.http import HttpResponse

VOID = {"meta", "link", "input", "br", "hr", "img"}
BLOCKS = {"dt", "dd", "td", "th", "li", "p", "h1", "h2", "summary", "option", "button", "a"}


@dataclass
class Element:
    """One start tag with its attributes and the text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: list["Element"] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, inside=list(self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:
            pass
        if tag in BLOCKS:  # what stands apart on the page stands apart in its words
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def elements(response: HttpResponse, tag: str = "", **wanted: str) -> list[Element]:
    """The elements with that tag and those attributes (`class_` for class, any of its words)."""
    reader = _Reader()
    reader.feed(html(response))
    return [e for e in reader.elements if (not tag or e.tag == tag) and _has(e, wanted)]


def html(response: HttpResponse) -> str:
    return response.content.decode()


def words(response: HttpResponse) -> str:
    """What people read on the page, on one line."""
    body = elements(response, "body")
    return " ".join(body[0].text.split())


def title(response: HttpResponse) -> str:
    return elements(response, "title")[0].text


def box(response: HttpResponse) -> str:
    """What is in the text box. HTML ignores one line end after the start tag, and the page writes one."""
    return elements(response, "textarea", name="text")[0].text.removeprefix("\n")


def form_fields(response: HttpResponse, action: str) -> dict[str, str]:
    """The hidden fields of the form that posts to `action`."""
    forms = elements(response, "form", action=action)
    assert forms, f"no form posts to {action}"
    inputs = elements(response, "input", type="hidden")
    return {
        i.attributes["name"]: i.attributes.get("value", "")
        for i in inputs
        if any(e.tag == "form" and e.attributes.get("action") == action for e in i.inside)
    }


def broken_rules(response: HttpResponse) -> list[str]:
    """What would stop a page under our content policy, or keep somebody out."""
    return [*_policy(response), *_access(response)]


def _policy(response: HttpResponse) -> Iterator[str]:
    for element in elements(response):
        for name, value in element.attributes.items():
            if name == "style" or name.startswith("on"):
                yield f"inline {name} on <{element.tag}>"
            if name in ("src", "href", "action") and re.match(r"(?:https?:)?//", value):
                yield f"<{element.tag}> leads away: {value}"
        data_block = element.attributes.get("type") == "application/json"
        if element.tag in ("script", "style") and not element.attributes.get("src") and not data_block:
            yield f"inline <{element.tag}>"


def _access(response: HttpResponse) -> Iterator[str]:
    labelled = {e.attributes.get("for") for e in elements(response, "label")}
    for element in elements(response):
        a = element.attributes
        if element.tag in ("input", "select", "textarea") and a.get("type") != "hidden" and "hidden" not in a:
            inside = any(e.tag == "label" for e in element.inside)
            if not inside and a.get("id") not in labelled and "aria-label" not in a:
                yield f"<{element.tag} name={a.get('name')}> has no label"
        if element.tag == "img" and "alt" not in a:
            yield "an image without alt"
    ids = [e.attributes["id"] for e in elements(response) if "id" in e.attributes]
    if len(ids) != len(set(ids)):
        yield "an id twice"
    if len(elements(response, "h1")) != 1:
        yield f"{len(elements(response, 'h1'))} first headings"
    if not elements(response, "html")[0].attributes.get("lang"):
        yield "no language"


def _has(element: Element, wanted: dict[str, str]) -> bool:
    for name, value in wanted.items():
        if name == "class_":
            if value not in element.attributes.get("class", "").split():
                return False
        elif element.attributes.get(name) != value:
            return False
    return True
