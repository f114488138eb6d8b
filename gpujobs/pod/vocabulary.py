"""Cuts a multilingual vocabulary down to the pieces that English and Spanish text uses.

Pieces that training uses rarely go as well: their words are then spelt from smaller pieces in training
already, as words that training never saw are in service. May be imported by: model.py and train.py. Extra:
`train`.
"""

import json
from collections import Counter
from collections.abc import Iterable

import torch
from tokenizers import Tokenizer

LAST_LATIN_CODE_POINT = 0x024F
PUNCTUATION_BLOCK = range(0x2010, 0x2070)
SPECIALS = 4  # <s>, <pad>, </s>, <unk>: their ids are built into the model


def cut_vocabulary(
    tokenizer: Tokenizer, table: torch.Tensor, texts: Iterable[str], min_count: int
) -> tuple[Tokenizer, torch.Tensor]:
    """The tokenizer and its embedding table (V, H) with only the pieces that `texts` use `min_count` times
    or more.

    Single Latin letters, digits and punctuation always stay, so that no Latin word is unknown. Raises
    ValueError for a tokenizer that isn't a Unigram model.
    """
    spec = json.loads(tokenizer.to_str())
    if spec["model"]["type"] != "Unigram":
        raise ValueError("only a Unigram vocabulary can be cut")
    counts: Counter[int] = Counter()
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        counts.update(encoding.ids)
    pieces = spec["model"]["vocab"]
    kept = [i for i in range(len(pieces)) if i < SPECIALS or counts[i] >= min_count or _always(pieces[i][0])]
    spec["model"]["vocab"] = [pieces[i] for i in kept]
    spec["added_tokens"] = [token for token in spec["added_tokens"] if token["id"] < SPECIALS]
    return Tokenizer.from_str(json.dumps(spec)), table[torch.tensor(kept)].clone()


def _always(piece: str) -> bool:
    letter = piece.removeprefix("\u2581")
    return len(letter) <= 1 and all(ord(c) <= LAST_LATIN_CODE_POINT or ord(c) in PUNCTUATION_BLOCK for c in letter)
