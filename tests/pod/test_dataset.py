"""Only cleared texts train, and nothing held out does."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

from gpujobs.pod import split
from gpujobs.pod.dataset import (
    HELDOUT_FILE,
    Row,
    UnclearedError,
    as_read,
    cached_as_read,
    corpora_folder,
    data_hash,
    read_heldout,
    read_rows,
    with_parts,
)


def record(number: int, **fields: Any) -> dict[str, Any]:
    plain = {
        "id": f"r{number}",
        "text": " ".join(f"word{number}x{i}" for i in range(30)),
        "label": "human",
        "generator": "human",
        "domain": "essay",
        "language": "en",
        "attack": "none",
        "source": "Some source",
        "licence": "MIT",
        "group": f"g{number}",
        "split": "train",
    }
    return {**plain, **fields}


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in records).encode()
    (folder / f"{name}.jsonl.zst").write_bytes(zstandard.compress(lines))


def rows(*records: dict[str, Any]) -> list[Row]:
    known = {**dict.fromkeys(Row.__dataclass_fields__, "")}
    return [Row(**{**known, **r, "label": int(r["label"] == "ai")}) for r in records]


def test_it_reads_labels_and_languages(tmp_path: Path) -> None:
    write(tmp_path, "open", [record(1), record(2, label="ai", language="es")])
    first, second = read_rows(tmp_path, ["open"])
    assert (first.label, second.label, second.language) == (0, 1, "es")


def test_it_refuses_a_file_that_is_not_cleared(tmp_path: Path) -> None:
    write(tmp_path, "restricted", [record(1)])
    with pytest.raises(UnclearedError, match="restricted"):
        read_rows(tmp_path, ["restricted"])


def test_it_refuses_a_licence_that_is_not_cleared(tmp_path: Path) -> None:
    write(tmp_path, "open", [record(1), record(2, licence="none stated")])
    with pytest.raises(UnclearedError, match="none stated"):
        read_rows(tmp_path, ["open"])


def test_it_says_where_it_looked_for_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INKCLOAK_CORPORA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="INKCLOAK_CORPORA"):
        corpora_folder()
    assert corpora_folder(str(tmp_path)) == tmp_path


def test_it_notices_a_held_out_text_that_changed() -> None:
    (row,) = rows(record(1))
    assert with_parts([row], {"r1": ("ood_dev", row.digest[:16])})[0].part == "ood_dev"
    with pytest.raises(ValueError, match="r1"):
        with_parts([row], {"r1": ("ood_dev", "0" * 16)})


def test_it_names_a_training_list_whatever_its_order() -> None:
    one, two = rows(record(1), record(2))
    assert data_hash([one, two]) == data_hash([two, one]) != data_hash([one])


def test_it_reads_texts_as_the_product_does(tmp_path: Path) -> None:
    prose = "It was a quiet morning, and nobody in the house had slept for long. " * 3
    given = rows(record(1, text=prose + "\u200b"), record(2, text="\u200b \n"))
    read = as_read(given)
    assert [row.id for row in read] == ["r1"]
    assert "\u200b" not in read[0].text
    assert cached_as_read(given, tmp_path) == cached_as_read(given, tmp_path) == read


def test_it_holds_out_whole_sources_genres_and_generators() -> None:
    parts = split.assign(
        rows(
            record(1, source="HART humanizing files (Bao et al. 2025)", label="ai"),
            record(2, source="MASC 3.0", domain="masc-email"),
            record(3, source="Slop Score results, essay prompts (Paech)", generator="o3", label="ai"),
            record(4, source="MASC 3.0", domain="masc-jokes"),
            record(5, split="val"),
        )
    )
    assert {key: part.split("_")[0] for key, part in parts.items()} == {
        "r1": "ood",
        "r2": "ood",
        "r3": "ood",
        "r5": "val",
    }


def test_it_keeps_a_group_on_one_side() -> None:
    held = record(1, source="Customer reviews", group="shared")
    parts = split.assign(rows(held, record(2, group="shared"), record(3)))
    assert parts["r2"] == "excluded"
    assert "r3" not in parts


def test_it_drops_training_texts_that_nearly_repeat_a_held_out_one() -> None:
    text = "The committee met on Tuesday and agreed that the bridge should be closed before the winter. "
    held = record(1, source="Customer reviews", text=text * 2)
    near = record(2, text=text * 2 + "Nobody objected.")
    assert split.assign(rows(held, near, record(3)))["r2"] == "excluded"


def test_it_froze_a_list_of_every_part() -> None:
    listed = read_heldout(HELDOUT_FILE)
    counts = Counter(part for part, _ in listed.values())
    assert set(counts) == {"val_dev", "val_report", "ood_dev", "ood_report", "excluded"}
    assert min(counts["ood_dev"], counts["ood_report"]) > 2500
    assert all(len(digest) == 16 for _, digest in listed.values())
