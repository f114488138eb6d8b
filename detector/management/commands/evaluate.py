"""`manage.py evaluate FILE.jsonl[.zst]`: what the product says of a labelled file, with intervals, by any field."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from detector import evaluation
from gpujobs import registry
from gpujobs.backends import BackendError
from gpujobs.models import ModelVersion
from gpujobs.pod import evaluate

COLUMNS = ("n", "auroc", "tpr_at_fpr_1", "tpr_at_fpr_5", "fpr", "tpr", "insufficient", "ece", "brier")


class Command(BaseCommand):
    help = "Evaluate the model in service on records with `text`, `label` (human|ai) and fields to slice by."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--limit", type=_positive, help="score only the first N records")
        parser.add_argument("--by", default="", help="fields, comma-separated: source,domain,generator,language,attack")
        parser.add_argument("--model", default="", help="a registered version; the champion unless given")

    def handle(self, *args: Any, **options: Any) -> None:
        fields = [field for field in options["by"].split(",") if field]
        watch = evaluation.Stopwatch()
        try:
            rows = [scored.row() for scored in self._scored(options, watch)]
        except (OSError, UnicodeDecodeError, evaluation.BadRecord) as error:
            raise CommandError(f"{options['file']}: {_said(error)}") from None
        except BackendError as error:
            raise CommandError(f"the model cannot score: {error} (manage.py register_shipped_model?)") from None
        report = evaluate.report(rows, fields)
        report["overall"]["texts_per_s"] = round(watch.texts_per_second, 2)
        self.stdout.write(json.dumps(report) if options["json"] else _table(report))

    def _scored(self, options: dict[str, Any], watch: evaluation.Stopwatch) -> list[evaluation.Scored]:
        version = self._version(options["model"])
        records = evaluation.read_records(options["file"], limit=options["limit"])
        scored: list[evaluation.Scored] = []
        with tqdm(unit=" texts", total=options["limit"], file=sys.stderr, desc=f"model {version.pk}") as bar:
            for batch in watch.timed(evaluation.score(records, version)):
                scored += batch
                bar.update(len(batch))
        return scored

    def _version(self, wanted: str) -> ModelVersion:
        if not wanted:
            return registry.resolve()
        found = ModelVersion.objects.filter(pk=wanted).first()
        if found is None:
            raise CommandError(f"no model version {wanted} is registered")
        return found


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ValueError(word)  # argparse makes the message
    return number


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _table(report: dict[str, Any]) -> str:
    """One line a slice; human texts' FPR with its interval first, since that is the harm."""
    lines = [" ".join([f"{'slice':32}", f"{'FPR of human [95 %]':>26}", *(f"{name:>13}" for name in COLUMNS)])]
    lines.append(_line("all", report["overall"]))
    for field, groups in report["by"].items():
        lines += [_line(f"{field}={value}", figures) for value, figures in groups.items()]
    lines.append(f"{report['overall']['texts_per_s']} texts/s")
    return "\n".join(lines)


def _line(name: str, figures: dict[str, Any]) -> str:
    interval = figures["fpr_interval"]
    harm = (
        "-" if interval is None else f"{figures['human_k']}/{figures['human_n']} [{interval[0]:.3f}, {interval[1]:.3f}]"
    )
    cells = ("-" if figures[key] is None else f"{figures[key]:.4g}" for key in COLUMNS)
    return " ".join([f"{name[:32]:32}", f"{harm:>26}", *(f"{cell:>13}" for cell in cells)])
