"""The network that is trained: an encoder with LoRA adapters, one logit for the text and one for each token.

May be imported by: train.py, export.py and their tests. Extra: `train`; the serving path (score.py) never
comes here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer
from torch import nn

from gpujobs.pod.bases import Base, Encoder, load_base
from gpujobs.pod.recipe import ModelKnobs, Recipe
from gpujobs.pod.vocabulary import cut_vocabulary


class Detector(nn.Module):
    """Token ids to one logit a text (from the mean of its tokens) and one a token, higher is more AI-like."""

    def __init__(self, encoder: Encoder, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(hidden, 1)
        self.token_head = nn.Linear(hidden, 1)
        for head in (self.head, self.token_head):
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """ids, mask: (B, T) int64, mask 1 on real tokens.  Returns (B,) and (B, T) float; padding's are noise."""
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, H)
        weights = mask.unsqueeze(-1).to(hidden.dtype)  # (B, T, 1)
        pooled = (hidden * weights).sum(1) / weights.sum(1)  # (B, H)
        return self.head(pooled).squeeze(-1), self.token_head(hidden).squeeze(-1)


def build(recipe: Recipe, texts: Iterable[str], cache: Path) -> tuple[Detector, Base]:
    """The detector of a recipe, ready to train, and its base (whose vocabulary may have been cut to `texts`)."""
    knobs = recipe.model
    base = load_base(knobs.base, cache)
    if knobs.cut_vocabulary:
        base = _with_cut_vocabulary(base, texts, knobs.vocabulary_min_count)
    return wrap(base.encoder, knobs, gradient_checkpointing=recipe.training.gradient_checkpointing), base


def wrap(encoder: Encoder, knobs: ModelKnobs, *, gradient_checkpointing: bool = False) -> Detector:
    """An encoder with adapters on the recipe's targets and a head; only these are trainable.

    gradient_checkpointing: keep no inner activations and compute them twice, for large bases on small cards.
    """
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # dropout costs a third of a step here, and few epochs over random crops need none
    if hasattr(encoder, "set_attn_implementation"):
        encoder.set_attn_implementation("eager")  # the fastest of the three under bf16 on CPUs
    if gradient_checkpointing:
        encoder.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    layers = list(range(knobs.lora_from_layer, encoder.config.num_hidden_layers))
    config = LoraConfig(
        r=knobs.lora_rank,
        lora_alpha=knobs.lora_alpha,
        target_modules=list(knobs.lora_targets),
        layers_to_transform=layers,
        lora_dropout=0.0,
    )
    return Detector(get_peft_model(encoder, config), encoder.config.hidden_size)


def merged(detector: Detector) -> Detector:
    """The same detector with its adapters added into the base weights."""
    detector.encoder = detector.encoder.merge_and_unload()
    return detector.eval()


def trainable(detector: Detector) -> dict[str, nn.Parameter]:
    """Adapters and head by name: all that training changes and a checkpoint holds."""
    return {name: value for name, value in detector.named_parameters() if value.requires_grad}


def device_of(detector: Detector) -> torch.device:
    """Where the detector's weights are."""
    return detector.head.weight.device


def collate(ids: Sequence[Sequence[int]], pad: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Unpadded ids to (B, T) ids and mask on the device."""
    longest = max(len(row) for row in ids)
    padded = torch.full((len(ids), longest), pad, dtype=torch.int64)
    mask = torch.zeros((len(ids), longest), dtype=torch.int64)
    for i, row in enumerate(ids):
        padded[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return padded.to(device), mask.to(device)


def truncate(ids: list[int], limit: int) -> list[int]:
    """Ids cut to `limit`, the closing special token kept."""
    return ids if len(ids) <= limit else ids[: limit - 1] + ids[-1:]


def special_id(tokenizer: Tokenizer, *names: str) -> int:
    """The id of the first of the names that the tokenizer knows. Raises ValueError when there is none."""
    for name in names:
        found = tokenizer.token_to_id(name)
        if found is not None:
            return int(found)
    raise ValueError(f"the tokenizer has none of {', '.join(names)}")


def _with_cut_vocabulary(base: Base, texts: Iterable[str], min_count: int) -> Base:
    old = base.encoder.get_input_embeddings()
    tokenizer, table = cut_vocabulary(base.tokenizer, old.weight.data, texts, min_count)
    fresh = nn.Embedding(table.shape[0], table.shape[1], padding_idx=old.padding_idx)
    fresh.weight.data = table
    base.encoder.set_input_embeddings(fresh)
    base.encoder.config.vocab_size = len(table)
    return Base(base.encoder, tokenizer, {**base.origin, "vocabulary": len(table)})
