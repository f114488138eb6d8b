"""The split that doesn't flatter, built once and frozen as `splits/heldout.tsv` (ids and hashes, no texts).

    python -m gpujobs.pod.split [--corpora DIR]      writes the list anew; a changed list is a new split, so
    say why

Parts: `val_*` is the corpora's own validation split of sources that training knows (in-domain). `ood_*` are
whole sources, genres and generators that no training sees (out-of-domain). Each is halved by a hash of the
group: `_dev` steers choices, calibration and thresholds, `_report` only reports. `excluded` rows are dropped
altogether: they share a group with a held-out text or nearly repeat one.
"""

import argparse
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from gpujobs.pod.dataset import HELDOUT_FILE, Row, corpora_folder, read_rows

OOD_SOURCES = (
    "EQ-Bench Judgemark",  # AI stories by 19 models of 2024
    "HART humanizing",  # AI essays, news, abstracts, stories, half of them humanised
    "Customer reviews",  # human reviews
    "ELTeC-spa",  # human Spanish novels
    "House of Commons",  # human speeches
    "PHYLIP",  # human, academic
    "AisleRiot",  # human, rules of games; the Spanish is translated
    "LinCity",  # human, help of a game; the Spanish is translated
)
OOD_GENRES = (
    ("L2R", "l2r-product-review"),  # both classes
    ("L2R", "l2r-legal-document"),  # both classes
    ("MASC", "masc-newspaper"),
    ("MASC", "masc-essays"),
    ("MASC", "masc-govt-docs"),
    ("MASC", "masc-travel-guides"),
    ("MASC", "masc-email"),
)
OOD_SPANISH = (
    ("Open Source Guides", "how-to"),
    ("written for this project", "blog"),
    ("written for this project", "email"),
    ("written for this project", "encyclopedia"),
    ("written for this project", "interview"),
    ("written for this project", "review"),
)
OOD_GENERATORS = (
    "o3",
    "claude-sonnet-4-5",
    "deepseek-r1",
    "llama-4-maverick",
    "mistral-nemo",
)  # of Slop Score
SHINGLE_WORDS = 5
NEAR_DUPLICATE_JACCARD = 0.4

_WORD = re.compile(r"\w+")


def out_of_domain(row: Row) -> bool:
    """Whether no training may see this row's source, genre or generator."""
    if row.source.startswith(OOD_SOURCES):
        return True
    if row.language == "es" and any(row.source.startswith(s) and row.domain == d for s, d in OOD_SPANISH):
        return True
    return unseen_generator(row) or any(row.source.startswith(s) and row.domain == d for s, d in OOD_GENRES)


def unseen_generator(row: Row) -> bool:
    """Whether this is a text of Slop Score by a model held out; its prompts are shared with models that are
    not.
    """
    return row.source.startswith("Slop Score") and row.generator in OOD_GENERATORS


def half(group: str) -> str:
    """`dev` or `report`, by a hash of the group, so that texts of one group stay together."""
    return ("dev", "report")[hashlib.sha256(group.encode()).digest()[0] & 1]


def assign(rows: Sequence[Row]) -> dict[str, str]:
    """id -> part of every row that training must not see."""
    parts: dict[str, str] = {}
    for row in rows:
        if out_of_domain(row):
            parts[row.id] = f"ood_{half(row.group)}"
        elif row.split == "val":
            parts[row.id] = f"val_{half(row.group)}"
    # Prompts of Slop Score go by generator, not by group: the same prompt in another model's words stays in
    # training.
    closed = {row.group for row in rows if row.id in parts and not unseen_generator(row)}
    for row in rows:
        if row.id not in parts and row.group in closed:
            parts[row.id] = "excluded"
    for row_id in near_duplicates([r for r in rows if r.id not in parts], [r for r in rows if r.id in parts]):
        parts[row_id] = "excluded"
    return parts


def shingles(text: str) -> set[int]:
    """Hashes of the word 5-grams of a text, case and punctuation aside."""
    words = _WORD.findall(text.lower())
    grams = (" ".join(words[i : i + SHINGLE_WORDS]) for i in range(max(1, len(words) - SHINGLE_WORDS + 1)))
    return {int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=8).digest()) for gram in grams}


def near_duplicates(training: Iterable[Row], heldout: Iterable[Row]) -> list[str]:
    """Ids of training rows whose 5-grams overlap a held-out row's with a Jaccard index of 0.4 or more."""
    holders: dict[int, list[int]] = defaultdict(list)
    sizes: list[int] = []
    for number, row in enumerate(tqdm(list(heldout), desc="held out")):
        grams = shingles(row.text)
        sizes.append(len(grams))
        for gram in grams:
            holders[gram].append(number)
    return [row.id for row in tqdm(list(training), desc="training") if _repeats(shingles(row.text), holders, sizes)]


def _repeats(grams: set[int], holders: dict[int, list[int]], sizes: list[int]) -> bool:
    shared = Counter(number for gram in grams for number in holders.get(gram, ()))
    return any(n / (len(grams) + sizes[number] - n) >= NEAR_DUPLICATE_JACCARD for number, n in shared.items())


def write(rows: Sequence[Row], parts: dict[str, str], path: Path) -> None:
    """The list, sorted by part and id, with counts at its head."""
    counts = Counter((parts.get(r.id, "train"), r.language, "ai" if r.label else "human") for r in rows)
    head = ["# part, first 16 hex digits of the text's SHA-256, id; written by gpujobs.pod.split, see there"]
    head += [f"# {part} {language} {label} {n}" for (part, language, label), n in sorted(counts.items())]
    lines = sorted(f"{parts[row.id]}\t{row.digest[:16]}\t{row.id}" for row in rows if row.id in parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora")
    parser.add_argument("--out", type=Path, default=HELDOUT_FILE)
    options = parser.parse_args()
    rows = read_rows(corpora_folder(options.corpora))
    write(rows, assign(rows), options.out)


if __name__ == "__main__":
    main()
