"""The model card and the licence of a model folder. Pure.

May be imported by: package.py. Imports: shared.metrics.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpujobs.pod.dataset import Row
from gpujobs.pod.shared.metrics import auroc, tpr_at_fpr

LICENCE_TEXT = """\
The adapters, the head, the linear model, the calibration and this folder's other files are licensed under
the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0

The encoder is derived from multilingual-e5-small, which comes under this licence:

MIT License

Copyright (c) 2023 Intfloat contributors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.

Training used texts under CC-BY-3.0 (L2R dataset, Hao et al. 2024), CC-BY-4.0 (MedQuAD; Pang and Lee's movie
reviews; Open Source Guides; Spanish Fake News Corpus; the markup of ELTeC), Apache-2.0 (OUTFOX; COWS-L2H),
MIT (Slop Score; Open Deep Research; Fast-DetectGPT's data), CC-BY-SA-3.0 or GPL-2.0+ (Debian Administrator's
Handbook), CC-BY-SA-3.0 (GNOME help), GPL-2.0, GFDL without invariant sections, BSD-2-Clause, NGPL and CC0 (manuals,
dictionaries, guides and speeches rebuilt from packages, see docs/corpus.md), the ANC's open licence (MASC), and in the
public domain. No text of these is in this folder.
"""

INTENDED = """\
## Use

Tells how likely it is that a text of 50 words or more was written by an AI, per window of up to 256 tokens and for the
whole. Windows end where the token head finds that the writer changes. Input is what `gpujobs.pod.shared.prose.read`
answers; nothing else was trained or measured.

It errs. A verdict must never be the only basis for acting against anybody: human texts are flagged at the
rates below, and AI texts that were paraphrased, humanised or edited are often missed.
"""

LIMITS = """\
## Limits

- The out-of-domain figures are the honest ones: a new source is a source that training never saw.
- AI text newer than mid-2024 comes from few places in training (stories, essays, reports and the project's own texts,
which are one generator's).
- Spanish AI text in training is one generator's and one novel's; the Spanish figures say little about other
generators.
- English essays by second-language writers are in no data that we have; Spanish ones are, in training.
- Rewrites of short human passages and text of 2023's base models are often missed.
"""


def baseline_figures(rows: Sequence[Row], scores: Mapping[str, float]) -> dict[str, float | int | None]:
    """AUROC and TPR at FPR 1 % and 5 % (threshold on these rows) of stored baseline scores; None where undefined.

    Rows in which the reading rules of the training's day found no prose have no score and are left out.
    """
    scored = [row for row in rows if row.id in scores]
    values, labels = [scores[row.id] for row in scored], [row.label for row in scored]
    figures: dict[str, float | int | None] = {"n": len(scored)}
    try:
        figures["auroc"] = round(auroc(values, labels), 5)
        figures["tpr_at_fpr_1"] = round(tpr_at_fpr(values, labels, 0.01).tpr, 5)
        figures["tpr_at_fpr_5"] = round(tpr_at_fpr(values, labels, 0.05).tpr, 5)
    except ValueError:
        figures.setdefault("auroc", None)
    return figures


def model_card(facts: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The README of a model folder, in Markdown; every number comes from `figures` or `facts`."""
    base, data = facts["base"], facts["data"]
    head = [
        f"# {facts['model']}",
        "",
        f"LoRA on {base['name']} ({base['licence']}), merged, matrices stored as int8 and computed in fp32,",
        "beside a linear model on hashed n-grams; logits are mixed, calibrated with the text's length, and",
        "thresholded per language.",
        "",
        INTENDED,
        "## Figures",
        "",
        "Report halves of the frozen split, which neither training nor calibration nor threshold choice saw.",
        "`TPR@` has its threshold on these very texts; FPR and TPR are the verdicts' at a cap of 1 %.",
        "",
    ]
    return "\n".join([*head, *_headline(figures), "", *_by_source(figures), "", LIMITS, *_data(data, facts)]) + "\n"


def _headline(figures: Mapping[str, Any]) -> list[str]:
    lines = [
        "| texts | n | | AUROC | TPR@FPR=1 % | TPR@FPR=5 % | FPR | TPR | ECE |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for key, found in figures["model"].items():
        f, b = found["overall"], figures["baseline"][key]
        lines.append(
            f"| {key} | {f['n']} | model | {_n(f['auroc'])} | {_n(f['tpr_at_fpr_1'])} "
            f"| {_n(f['tpr_at_fpr_5'])} | {_rate(f, 'fpr', 'human')} | {_rate(f, 'tpr', 'ai')} "
            f"| {_n(f['ece'])} |"
        )
        lines.append(
            f"| | {b['n']} | n-gram baseline | {_n(b.get('auroc'))} | {_n(b.get('tpr_at_fpr_1'))} "
            f"| {_n(b.get('tpr_at_fpr_5'))} | | | |"
        )
    return lines


def _by_source(figures: Mapping[str, Any]) -> list[str]:
    lines = ["| texts | source | human flagged | AI caught |", "| --- | --- | --- | --- |"]
    for key, found in figures["model"].items():
        for source, f in found["by"]["source"].items():
            lines.append(f"| {key} | {source} | {_rate(f, 'fpr', 'human')} | {_rate(f, 'tpr', 'ai')} |")
    return lines


def _data(data: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    lines = ["## Training data", "", f"{data['texts']} texts, SHA-256 of the list {data['sha256']}.", ""]
    lines += ["| source | texts |", "| --- | --- |"]
    lines += [f"| {name} | {count} |" for name, count in data["sources"].items()]
    hours = facts["training"]["cpu_hours"]
    steps, planned = facts["training"]["steps"], facts["recipe"]["training"]["steps"]
    stopped = "" if steps == planned else f", stopped at step {steps} of {planned}"
    return [*lines, "", f"Trained with the recipe in manifest.json{stopped}, in {hours:.1f} CPU hours."]


def _n(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _rate(figures: Mapping[str, Any], name: str, label: str) -> str:
    if not figures[f"{label}_n"]:
        return "-"
    low, high = figures[f"{name}_interval"]
    counted = f"{figures[f'{label}_k']} of {figures[f'{label}_n']}"
    return f"{100 * figures[name]:.1f} % ({counted}; {100 * low:.1f}-{100 * high:.1f})"
