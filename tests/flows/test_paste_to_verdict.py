"""Paste, command and evaluation: one way, one answer. Real processes, the shipped model."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import samples
from product import Product, Visitor, number_of

TEXTS = {"human": samples.HUMAN, "ai": samples.AI, "mixed": samples.MIXED, "spanish": samples.SPANISH}
CLOSE = 1e-4


def test_it_brings_a_pasted_text_to_the_right_verdict(visitor: Visitor) -> None:
    assert visitor.check(samples.HUMAN).label == "human"
    assert visitor.check(samples.AI).label == "ai"


def test_page_command_and_evaluation_give_the_same_numbers(product: Product, visitor: Visitor, tmp_path: Path) -> None:
    """On the page in company of others, by the command alone, in the evaluation as one file."""
    with ThreadPoolExecutor(len(TEXTS)) as everybody:
        pages = dict(zip(TEXTS, everybody.map(lambda text: Visitor(product).check(text), TEXTS.values()), strict=True))
    commands = {name: product.check_text(text) for name, text in TEXTS.items()}
    evaluated = evaluate(product, tmp_path / "texts.jsonl")
    for name in TEXTS:
        page, command = pages[name], commands[name]
        assert page.label == command["verdict"]
        assert page.probability == pytest.approx(command["probability"], abs=CLOSE)
        assert page.ai_fraction == pytest.approx(command["ai_fraction"], abs=CLOSE)
        assert evaluated[name] == pytest.approx(command["probability"], abs=CLOSE)


def evaluate(product: Product, path: Path) -> dict[str, float]:
    """Each text's probability, out of the Brier score of its slice: with the label that lies far from it, the
    five digits printed are enough to take the root of."""
    records = [
        {"text": text, "name": name, "label": "ai" if name in ("human", "spanish") else "human"}
        for name, text in TEXTS.items()
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    done = product.manage("evaluate", str(path), "--json", "--by", "name")
    assert done.returncode == 0, done.stderr
    brier = {name: figures["brier"] for name, figures in json.loads(done.stdout)["by"]["name"].items()}
    return {
        record["name"]: 1 - brier[record["name"]] ** 0.5 if record["label"] == "ai" else brier[record["name"]] ** 0.5
        for record in records
    }


def test_its_segments_are_places_of_the_pasted_text(product: Product) -> None:
    found = product.check_text(samples.MIXED)
    assert [part["kind"] for part in found["left_out"]] == ["code"]
    ai = [segment for segment in found["segments"] if segment["label"] == "ai"]
    assert "evolving digital landscape" in samples.MIXED[ai[0]["start"] : ai[0]["end"]]
    code = found["left_out"][0]
    assert "print(index)" in samples.MIXED[code["start"] : code["end"]]


def test_one_form_sent_twice_is_one_check(product: Product, visitor: Visitor) -> None:
    form = visitor.form() | {"text": samples.HUMAN}
    addresses = {str(visitor.http.post("/check", data=form).url) for _ in range(2)}
    assert len(addresses) == 1
    query = "SELECT count(*) FROM detector_submission WHERE nonce = %s"
    assert product.rows(query, form["nonce"]) == [(1,)]


def test_a_stranger_finds_nothing_under_the_address(product: Product, visitor: Visitor) -> None:
    address = visitor.post(samples.HUMAN)
    stranger = Visitor(product)
    for who, status in ((stranger, 404), (visitor, 200)):
        assert who.http.get(address).status_code == status
    stranger.http.close()


def test_a_command_leaves_no_text_behind(product: Product) -> None:
    product.check_text(f"{samples.HUMAN} The marmalade zeppelin has landed.")
    assert product.rows("SELECT count(*) FROM detector_submission WHERE text LIKE %s", "%marmalade zeppelin%") == [(0,)]


def test_no_log_and_no_message_quotes_a_text(product: Product, visitor: Visitor) -> None:
    address = visitor.post(f"{samples.AI} A quixotic zeppelin has landed.")
    visitor.verdict(address)
    assert number_of(address) in address
    with product.redis() as client:
        stored = [f"{key!r}{client.dump(key)!r}" for key in client.scan_iter()]
    for words in ("zeppelin", "digital landscape", "Woodhouse"):
        assert words not in product.logs()
        assert words not in "".join(stored)
