"""A corpus, an encoder and a recipe so small that a whole training takes seconds. Not a test."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, DebertaV2Config, DebertaV2Model, PreTrainedTokenizerFast

from gpujobs.pod.dataset import Row
from gpujobs.pod.recipe import DataKnobs, ModelKnobs, NgramKnobs, Recipe, TrainingKnobs


def _words(text: str) -> list[str]:
    return text.split()


SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
HUMAN = tuple(_words("the a old road we saw rain dog and he said no maybe it was cold her hand but not there"))
AI = tuple(_words("the a moreover delve tapestry robust landscape and it is crucial to navigate we foster"))


def rows(training: int = 80, development: int = 240, report: int = 60) -> list[Row]:
    """Texts of both classes; the words of the classes overlap in part."""
    parts = [""] * training + ["val_dev", "ood_dev"] * (development // 2) + ["val_report", "ood_report"] * (report // 2)
    return [row(number, part, label) for number, (part, label) in enumerate((p, y) for p in parts for y in (0, 1))]


def row(number: int, part: str, label: int) -> Row:
    rng = np.random.default_rng(number)
    words = [str(w) for w in rng.choice(AI if label else HUMAN, size=int(rng.integers(55, 90)))]
    words += [str(w) for w in rng.choice(HUMAN if label else AI, size=int(rng.integers(0, 25)))]
    sentences = [" ".join(words[i : i + 9]).capitalize() + "." for i in range(0, len(words), 9)]
    return Row(
        id=f"t{number}",
        text=" ".join(sentences),
        label=label,
        generator="m" if label else "human",
        domain="essay",
        language="en",
        attack="none",
        source=f"source {number % 3}",
        licence="project",
        group=f"g{number}",
        split="train",
        part=part,
    )


def base(folder: Path, kind: str = "bert") -> str:
    """Saves a random encoder with its tokenizer in `folder`, as a hub would; returns its name."""
    words = sorted({*HUMAN, *AI} | {w.capitalize() for w in [*HUMAN, *AI]} | {"."})
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(SPECIALS + words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    size = {"vocab_size": len(SPECIALS + words), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    if kind == "bert":
        model = BertModel(BertConfig(**size, intermediate_size=64), add_pooling_layer=False)
    else:
        # The options of deberta-v3: relative positions shared with the keys and queries, log buckets, no types.
        model = DebertaV2Model(
            DebertaV2Config(
                **size,
                intermediate_size=64,
                relative_attention=True,
                position_buckets=16,
                norm_rel_ebd="layer_norm",
                share_att_key=True,
                pos_att_type=["p2c", "c2p"],
                position_biased_input=False,
                type_vocab_size=0,
                max_relative_positions=-1,
                max_position_embeddings=64,
            )
        )
    model.save_pretrained(folder)
    return str(folder)


def recipe(
    base_name: str,
    *,
    steps: int = 30,
    targets: tuple[str, ...] = ("query", "value"),
    look: int = 0,
    engine: str = "onnxruntime",
) -> Recipe:
    return Recipe(
        model=ModelKnobs("tiny", base_name, False, 1, 4, 8, targets, 0, 64, engine),
        data=DataKnobs(("written",), (20, 60), 0.5, 0.0, 0.2, 0.3, (30, 60)),
        training=TrainingKnobs(7, steps, 8, 4, 2e-3, 1e-2, 2, 0.01, 0.02, 0.5, 0.05, 0.9, False, False, 1, 60.0, look),
        ngrams=NgramKnobs(10, 12, 0.2, 1.0),
    )
