"""The training loop: steps, running average, checkpoints, progress, and a stop that loses nothing.

May be imported by: train.py and its tests. Extra: `train`.
"""

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from tqdm import tqdm

from gpujobs.pod import checkpoint
from gpujobs.pod.crops import MIXED, Batch, CropSource
from gpujobs.pod.model import Detector, collate, device_of, trainable, truncate
from gpujobs.pod.recipe import Recipe

GRADIENT_NORM = 1.0
LOG_STEPS = 25
HEADS = ("head.", "token_head.")

Evaluate = Callable[[Detector, int], dict[str, Any]]


class Stopped(Exception):
    """SIGTERM or SIGINT came; the checkpoint is written."""


class Loop:
    """One run of a recipe over crops. `run` ends with the averaged weights inside the detector."""

    def __init__(
        self,
        detector: Detector,
        source: CropSource,
        recipe: Recipe,
        data_sha256: str,
        out: Path,
        unknown: int,
        pad: int,
    ) -> None:
        self.detector, self.source, self.recipe, self.out = detector, source, recipe, out
        self._data, self._unknown, self._pad = data_sha256, unknown, pad
        self._parameters = trainable(detector)
        self._average = {name: value.detach().clone() for name, value in self._parameters.items()}
        self._optimiser = self._make_optimiser()
        self._step, self._seconds, self._stop = 0, 0.0, False

    def resume(self) -> None:
        """Takes up the checkpoint in the output folder. Raises as checkpoint.load does."""
        state = checkpoint.load(self.out, self.recipe.digest, self._data)
        self._put(state["weights"])
        self._average = state["average"]
        self._optimiser.load_state_dict(state["optimiser"])
        self._step, self._seconds = state["step"], state["seconds"]

    def run(self, evaluate: Evaluate | None = None) -> float:
        """Trains to the recipe's last step. Returns CPU hours spent (all threads). Raises Stopped when told to stop."""
        with _on_signal(self._ask_stop):
            self._take_steps(evaluate)
        if self.recipe.training.average_decay:
            self._put(self._average)
        return self._seconds / 3600

    def _take_steps(self, evaluate: Evaluate | None) -> None:
        knobs = self.recipe.training
        saved = time.monotonic()
        bar = tqdm(total=knobs.steps, initial=self._step, desc=self.recipe.model.name, mininterval=5)
        bucket, batches = -1, []
        while self._step < knobs.steps:
            if self._step // knobs.bucket_batches != bucket:
                bucket = self._step // knobs.bucket_batches
                batches = self.source.batches(bucket)
            started = time.process_time()
            loss = self._train_on(batches[self._step % knobs.bucket_batches])
            self._seconds += time.process_time() - started
            self._step += 1
            bar.update()
            self._report(loss, evaluate)
            if self._stop or time.monotonic() - saved > knobs.checkpoint_minutes * 60:
                self._save()
                saved = time.monotonic()
            if self._stop:
                raise Stopped
        bar.close()
        self._save()

    def _report(self, loss: float, evaluate: Evaluate | None) -> None:
        every = self.recipe.training.evaluate_steps
        if self._step % LOG_STEPS == 0:
            self.log({"step": self._step, "loss": round(loss, 5), "cpu_hours": round(self._seconds / 3600, 3)})
        # The last step is left to the caller, who looks at the finished detector anyway.
        if evaluate and every and self._step % every == 0 and self._step < self.recipe.training.steps:
            self.log({"step": self._step, **self._with_average(evaluate)})

    def log(self, record: dict[str, Any]) -> None:
        """Appends one line to the run's `metrics.jsonl`."""
        with (self.out / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"at": round(time.time()), **record}) + "\n")

    def _train_on(self, batch: Batch) -> float:
        self.detector.train()
        knobs = self.recipe.training
        for group in self._optimiser.param_groups:
            group["lr"] = group["peak"] * rate(self._step, knobs.warmup_steps, knobs.steps)
        loss = self._loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters.values(), GRADIENT_NORM)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        # A young average follows closely; later it remembers 1 / (1 - decay) steps.
        decay = min(knobs.average_decay, (self._step + 1) / (self._step + 10))
        with torch.no_grad():
            for name, value in self._parameters.items():
                self._average[name].lerp_(value, 1 - decay)
        return float(loss.item())

    def _loss(self, batch: Batch) -> torch.Tensor:
        """Cross entropy of the texts that one class wrote, plus that of all real tokens."""
        knobs, device = self.recipe.training, device_of(self.detector)
        limit = self.recipe.model.window_tokens
        ids, mask = collate([truncate(list(row), limit) for row in batch.ids], self._pad, device)
        token_labels, _ = collate([truncate(list(row), limit) for row in batch.token_labels], 0, device)
        labels = torch.tensor(batch.labels, dtype=torch.float32, device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=knobs.bf16):
            logits, tokens = self.detector(self._drop_tokens(ids, mask), mask)
        pure = labels != MIXED
        loss = (self._entropy(logits, labels.clamp(0, 1)) * pure).sum() / pure.sum().clamp(min=1)
        if not knobs.token_loss:
            return loss
        # A mean over each text first: a long text counts no more than a short one, as in the document's loss.
        each = self._entropy(tokens, token_labels.float()) * mask
        return loss + knobs.token_loss * (each.sum(1) / mask.sum(1)).mean()

    def _entropy(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        smoothing = self.recipe.training.label_smoothing
        return cross_entropy(logits.float(), labels * (1 - 2 * smoothing) + smoothing, reduction="none")

    def _drop_tokens(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        share = self.recipe.training.token_dropout
        if not share:
            return ids
        generator = torch.Generator().manual_seed(self.recipe.training.seed * 1_000_003 + self._step)
        dropped = (torch.rand(ids.shape, generator=generator) < share).to(ids.device) & mask.bool()
        dropped[:, 0] = False
        return torch.where(dropped, torch.full_like(ids, self._unknown), ids)

    def _make_optimiser(self) -> torch.optim.Optimizer:
        knobs = self.recipe.training
        head = [value for name, value in self._parameters.items() if name.startswith(HEADS)]
        rest = [value for name, value in self._parameters.items() if not name.startswith(HEADS)]
        groups = [
            {"params": rest, "peak": knobs.learning_rate, "weight_decay": knobs.weight_decay},
            {"params": head, "peak": knobs.head_learning_rate, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=knobs.learning_rate, betas=(0.9, 0.98))

    def _with_average(self, evaluate: Evaluate) -> dict[str, Any]:
        current = {name: value.detach().clone() for name, value in self._parameters.items()}
        self._put(self._average)
        found = evaluate(self.detector, self._step)
        self._put(current)
        return found

    def _put(self, weights: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, value in self._parameters.items():
                value.copy_(weights[name])

    def _save(self) -> None:
        weights = {name: value.detach() for name, value in self._parameters.items()}
        state = {"weights": weights, "average": self._average, "optimiser": self._optimiser.state_dict()}
        checkpoint.save(
            self.out, self.recipe.digest, self._data, {**state, "step": self._step, "seconds": self._seconds}
        )

    def _ask_stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._stop = True


@contextmanager
def _on_signal(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGTERM and SIGINT go to the handler inside, and where they went before afterwards."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def rate(step: int, warmup: int, steps: int) -> float:
    """Share of the peak learning rate at a step: linear warm-up, then a cosine down to 2 %."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))
