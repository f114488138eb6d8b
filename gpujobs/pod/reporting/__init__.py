"""The report of a model folder: what it says of texts that no training, calibration or threshold choice saw.

    report.py      the command: sections in order    judge.py       texts to verdicts, answers kept on disk
    material.py    which texts a section measures    figures.py     rates by group, curves, groups of people
    robustness.py  attacks, formatting noise         mixing.py      documents by two writers
    steadiness.py  same text, same score; speed      plots.py, markdown.py    how the report looks

May be imported by: leave_out.py (material alone); the site reads the `report.json` that it writes. Extras: `cpu`, and
`train` for plots.
"""
