"""A recipe: every knob of one training run, read from a TOML file, with nothing left to a default elsewhere.

May be imported by: training, packaging and their tests. Standard library only.
"""

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelKnobs:
    """What is trained. LoRA's scale is alpha / rank."""

    name: str  # the name that answers carry
    base: str  # a row of bases.BASES, or a hub id with a slash
    cut_vocabulary: bool  # keep only the pieces that training texts use (for small multilingual bases)
    vocabulary_min_count: int  # how often training must use a piece for it to stay
    lora_rank: int
    lora_alpha: int
    lora_targets: tuple[str, ...]  # names of the linear layers that get an adapter
    lora_from_layer: int  # layers below stay as they are (0 = all are tuned)
    window_tokens: int  # longest input, special tokens included
    # What serves it: on CPUs the merged network by "onnxruntime" (fp32) or "openvino" (bfloat16 where the processor
    # can), on a GPU "torch", base and adapter.
    engine: str


@dataclass(frozen=True, slots=True)
class DataKnobs:
    """Which texts, cut and balanced how."""

    files: tuple[str, ...]
    crop_words: tuple[int, int]  # shortest and longest crop
    size_power: float  # a source and genre with n texts is drawn in proportion to n ** size_power
    spanish_share: float  # of all crops
    augment_share: float  # crops that get one of the attacks that reading doesn't undo
    splice_share: float  # crops made of human and AI sentences in turn, for the token head (0 = none)
    splice_words: tuple[int, int]  # shortest and longest of these: a change needs words on both sides


@dataclass(frozen=True, slots=True)
class TrainingKnobs:
    """How long and how fast."""

    seed: int
    steps: int
    batch_crops: int
    bucket_batches: int  # batches drawn together and sorted by length, so that padding is small
    learning_rate: float  # of the adapters, at its peak
    head_learning_rate: float
    warmup_steps: int
    weight_decay: float
    label_smoothing: float
    token_loss: float  # weight of the token head's loss beside the document's
    token_dropout: float  # share of input tokens replaced by the unknown token
    average_decay: float  # of the running average of trained weights that is shipped (0 = last weights)
    bf16: bool  # autocast; fp32 otherwise
    gradient_checkpointing: bool
    threads: int
    checkpoint_minutes: float
    evaluate_steps: int  # steps between looks at the development halves (0 = only at the end)


@dataclass(frozen=True, slots=True)
class NgramKnobs:
    """The linear model on hashed n-grams that scores beside the encoder (buckets = 0: none)."""

    bits: int  # 2 ** bits weights of each kind
    frequent_words: int  # that stay words in outlines (0 = no outlines)
    augment_share: float  # training texts that are read a second time as an attack leaves them
    inverse_regularisation: float  # scikit-learn's C


@dataclass(frozen=True, slots=True)
class Recipe:
    model: ModelKnobs
    data: DataKnobs
    training: TrainingKnobs
    ngrams: NgramKnobs

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def digest(self) -> str:
        """First 12 hex digits of the hash over all knobs: checkpoints of another recipe are refused."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


def read_recipe(path: Path) -> Recipe:
    """The recipe in a TOML file. Raises TypeError on a knob that is missing or unknown."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    model, data = tables["model"], tables["data"]
    model["lora_targets"] = tuple(model["lora_targets"])
    for name in ("files", "crop_words", "splice_words"):
        data[name] = tuple(data[name])
    knobs = ModelKnobs(**model), DataKnobs(**data), TrainingKnobs(**tables["training"])
    return Recipe(*knobs, ngrams=NgramKnobs(**tables["ngrams"]))
