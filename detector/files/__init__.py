"""Files become texts. A file is somebody else's program: a process of its own parses it, and nothing of it is kept.

    reading.py    what the product calls: read_all() -> files, each with its texts or the reason why it has none
    names.py      file names, as they may be shown and stored        messages.py   codes -> words
    runner.py     one child process a file: limits, a wall clock, a bounded answer
    child.py      what runs there: no Django, no network, no files, no further process
    kinds.py      what a file is, by its content    limits.py   every limit, and Refused
    pdf.py word.py webpage.py table.py decoding.py markup.py   one format each, and what they share

child.py and the modules that it needs (all but reading, names and messages) import nothing outside this package but
their one library.
"""
