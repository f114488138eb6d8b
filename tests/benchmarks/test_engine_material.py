"""What `make bench-engine` measures with: texts of the corpus's lengths, the shipped weights in a class of theirs."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.engine_texts import LEAST_WORDS, WORDS, texts
from benchmarks.infinity import folder
from benchmarks.infinity.mean_bert import MeanBertForSequenceClassification
from gpujobs.pod import manifest
from gpujobs.pod.engine import Engine

SHIPPED = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"
ROWS = [[0, 17, 512, 9_999, 2], [0, *range(100, 130), 2]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("served") / "inkcloak"
    folder.write(SHIPPED, target)
    return target


def test_every_seed_has_the_same_lengths_and_other_words() -> None:
    one, other = texts(30, 0), texts(30, 1)
    lengths = [[len(item.text.split()) for item in found] for found in (one, other)]
    assert lengths[0] == lengths[1]
    assert not {item.text for item in one} & {item.text for item in other}


def test_lengths_are_those_of_the_corpus() -> None:
    found = sorted(len(item.text.split()) for item in texts(40, 0))
    assert found[0] >= LEAST_WORDS
    assert found[20] == pytest.approx(WORDS[10], rel=0.05)
    assert found[-1] > WORDS[-2]
    assert {item.language for item in texts(40, 0)} == {"en", "es"}


def test_the_served_class_says_what_the_encoder_says(served: Path) -> None:
    model = MeanBertForSequenceClassification.from_pretrained(served).eval()
    told = Engine(SHIPPED / "encoder.onnx", pad=1, threads=1).logits(ROWS)
    for row, logits in zip(ROWS, told, strict=True):
        ids = torch.tensor([row])
        with torch.no_grad():
            human, ai = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].tolist()
        assert human == 0
        assert ai == pytest.approx(logits.document, abs=1e-4)


def test_its_tokenizer_puts_the_special_tokens_around(served: Path) -> None:
    found = json.loads((served / "tokenizer.json").read_text(encoding="utf-8"))["post_processor"]
    assert [piece.get("SpecialToken", {}).get("id") for piece in found["single"]] == ["<s>", None, "</s>"]


def test_a_head_width_that_no_scale_names_is_refused() -> None:
    from onnx import helper, numpy_helper

    value = numpy_helper.from_array(np.array(0.123, dtype=np.float32))
    node = helper.make_node("Constant", [], ["c"], value=value)
    with pytest.raises(ValueError, match="attention heads"):
        folder.heads(helper.make_graph([node], "g", [], []), 384)
