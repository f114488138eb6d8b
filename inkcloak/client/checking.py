"""Has many sources checked: texts as batches, files as files, a handful in each request, and one alone with everything
that the service says about it. One that fails takes no other with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inkcloak.client.api import Client
from inkcloak.client.batches import Upload
from inkcloak.client.calls import Options
from inkcloak.client.errors import (
    CHECK_FAILED,
    CheckFailed,
    ConnectionFailed,
    InkcloakError,
    KeyRefused,
    NotFinished,
    UnexpectedAnswer,
)
from inkcloak.client.shapes import Detection
from inkcloak.client.sources import Source

AT_ONCE = 50  # sources whose texts are in memory and under way
HOPELESS = (ConnectionFailed, KeyRefused, UnexpectedAnswer)  # what will be no different for the next handful
Progress = Callable[[float], object]


class Unreadable(InkcloakError):
    """A file that this computer can't read."""

    code = "unreadable"


@dataclass(frozen=True, slots=True)
class Checked:
    """One text. row: of a table.  Without a problem there is a detection, and it is done."""

    name: str
    row: int | None
    detection: Detection | None
    problem: InkcloakError | None


@dataclass(frozen=True, slots=True)
class Desk:
    """Who checks, and how. wait: seconds for a verdict, for each handful."""

    client: Client
    options: Options
    wait: float

    def check_all(self, sources: Sequence[Source], progress: Progress) -> Iterator[Checked]:
        """At least one line for each source, in their order. progress: gets how many are done, with fractions."""
        hopeless: InkcloakError | None = None
        for first in range(0, len(sources), AT_ONCE):
            some = sources[first : first + AT_ONCE]
            if hopeless is not None:
                yield from (Checked(source.name, None, None, hopeless) for source in some)
                continue
            found = self._handful(some, lambda done, first=first: progress(first + done))  # type: ignore[misc]
            yield from found
            hopeless = next((one.problem for one in found if isinstance(one.problem, HOPELESS)), None)
        progress(len(sources))

    def _handful(self, sources: Sequence[Source], progress: Progress) -> list[Checked]:
        found: dict[int, list[Checked]] = {}
        texts: dict[int, str] = {}
        files: dict[int, Upload | Path] = {}
        for at, source in enumerate(sources):
            try:
                content = source.content()
            except OSError as error:
                problem = Unreadable(f"can't be read: {error.strerror or type(error).__name__}")
                found[at] = [Checked(source.name, None, None, problem)]
                continue
            if isinstance(content, str):
                texts[at] = content
            else:
                files[at] = content
        names = [source.name for source in sources]
        if len(texts) == len(sources) == 1:
            return [self._alone(names[0], texts[0])]
        begin = len(found)
        found |= self._texts(names, texts, lambda share: progress(begin + share * len(texts)))
        begin = len(found)
        found |= self._files(names, files, lambda share: progress(begin + share * len(files)))
        return [one for at in range(len(sources)) for one in found[at]]

    def _alone(self, name: str, text: str) -> Checked:
        try:
            return checked(name, self.client.detect(text, wait=self.wait, **self.options))
        except NotFinished as error:
            return checked(name, error.detection)
        except InkcloakError as error:
            return Checked(name, None, None, error)

    def _texts(self, names: Sequence[str], texts: Mapping[int, str], progress: Progress) -> dict[int, list[Checked]]:
        if not texts:
            return {}
        try:
            items = self.client.detect_many(
                texts.values(), wait=self.wait, progress=lambda done, of: progress(done / of), **self.options
            )
        except InkcloakError as error:
            return {at: [Checked(names[at], None, None, error)] for at in texts}
        return {at: [checked(names[at], item.detection, item.problem)] for at, item in zip(texts, items, strict=True)}

    def _files(
        self, names: Sequence[str], files: Mapping[int, Upload | Path], progress: Progress
    ) -> dict[int, list[Checked]]:
        if not files:
            return {}
        try:
            items = self.client.detect_files(
                files.values(), wait=self.wait, progress=lambda done, of: progress(done / max(of, 1)), **self.options
            )
        except OSError as error:  # gone since it was found
            problem: InkcloakError = Unreadable(f"can't be read: {error.strerror or type(error).__name__}")
            return {at: [Checked(names[at], None, None, problem)] for at in files}
        except InkcloakError as error:
            return {at: [Checked(names[at], None, None, error)] for at in files}
        places = list(files)
        found: dict[int, list[Checked]] = {at: [] for at in places}
        for item in items:
            at = places[item.file.place]
            found[at].append(checked(names[at], item.detection, item.problem, item.row))
        return found


def checked(
    name: str, detection: Detection | None, problem: InkcloakError | None = None, row: int | None = None
) -> Checked:
    """A check that ended without a verdict, or did not end yet, is a problem."""
    if problem is None and detection is not None and not detection.is_finished:
        problem = NotFinished(detection)
    elif problem is None and detection is not None and detection.status == "failed":
        problem = CheckFailed(503, CHECK_FAILED, "the check ended without a verdict; nothing was charged")
    return Checked(name, row, detection, problem)
