"""Every limit of a file, and what a parser gives back. Imported by the site and by its parsing child alike."""

from dataclasses import dataclass, field

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_UPLOAD_BYTES = 32 * 1024 * 1024  # all files of one request; settings hold a request of that size in memory
MAX_FILES = 100  # in one request
MAX_TEXTS = 1_000  # of all files of one request
MAX_PDF_PAGES = 200
MAX_ZIP_MEMBERS = 2_000
MAX_UNZIPPED_BYTES = 100 * 1024 * 1024
MAX_ZIP_RATIO = 200  # unpacked : packed; XML of honest documents stays under 50
ZIP_RATIO_FROM_BYTES = 5 * 1024 * 1024  # below, a high ratio is only a short text
MAX_CSV_ROWS = 10_000
MAX_NESTING = 2_000  # elements inside each other: browsers stop at 512

MEMORY_BYTES = 640 * 1024 * 1024  # address space of the child
CPU_SECONDS = 20
WALL_SECONDS = 30.0  # of one file
UPLOAD_SECONDS = 60.0  # of all files of one request: a hundred of the worst kind hold nobody's processor for long
MAX_ANSWER_BYTES = 4 * MAX_FILE_BYTES  # of JSON
CHILDREN_AT_ONCE = 4  # of one web process
WAIT_FOR_A_CHILD_SECONDS = 20.0


class Refused(Exception):
    """A file that cannot be read. code: see messages.py; values: what its message names (limits, never content)."""

    def __init__(self, code: str, **values: int | str) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a file. row: of a CSV, counted from 1 with its header; None where the file is one text."""

    text: str
    row: int | None = None


@dataclass(slots=True)
class Found:
    """What a parser read. hidden: kind -> characters that no reader sees, left out. notes: what else was left out or
    guessed, by name."""

    kind: str
    parts: list[Part] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    encoding: str = ""

    def hide(self, kind: str, text: str) -> None:
        """Counts a passage that is left out because nobody sees it."""
        characters = sum(not character.isspace() for character in text)
        if characters:
            self.hidden[kind] = self.hidden.get(kind, 0) + characters

    def note(self, name: str) -> None:
        if name not in self.notes:
            self.notes.append(name)
