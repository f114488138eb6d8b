"""Many texts or files: sent in as many requests as they need, followed together, and put back in their order.

The first request that fails is the call's failure; of later ones only the texts that they carried fail, since those
before them are accepted and will be charged.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inkcloak.client import batches
from inkcloak.client.batches import Upload
from inkcloak.client.calls import chosen, new_key
from inkcloak.client.errors import InkcloakError
from inkcloak.client.shapes import Detection, FileItem, FileRead, Item, problem_in
from inkcloak.client.steps import Pause, Requests, Send, Steps, shaped

FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.3, 5.0  # between looks at a batch
WORK_SECONDS = 180.0  # that the service may need to read what one request holds
AnyFile = str | Path | Upload
Progress = Callable[[int, int], object]


class Many(Requests):
    """Calls about more than one text."""

    def detect_many(
        self, texts: Sequence[str], options: Mapping[str, Any], wait: float, key: str | None, progress: Progress | None
    ) -> Steps[tuple[Item, ...]]:
        batch, key = _Batches(progress), key or new_key()
        deadline = self.clock() + wait
        for number, part in enumerate(batches.parts_of(texts, chosen(options))):
            send = Send("POST", "/detections/batch", part.body, idempotency_key=f"{key}-{number}", work=WORK_SECONDS)
            try:
                answer = yield from self.json(send)
            except InkcloakError as error:
                if not number:
                    raise
                batch.add([Item(part.first + at, None, error) for at in range(part.count)])
                continue
            batch.add(shaped(_items, answer, part.first), answer)
        yield from self._follow(batch, deadline)
        return tuple(batch.items)

    def detect_files(
        self,
        files: Sequence[AnyFile],
        options: Mapping[str, Any],
        wait: float,
        key: str | None,
        progress: Progress | None,
    ) -> Steps[tuple[FileItem, ...]]:
        batch, key, form = _Batches(progress), key or new_key(), _form(chosen(options))
        deadline = self.clock() + wait
        for number, part in enumerate(batches.file_parts_of(files)):
            refused = [_unread(place, batches.name_of(files[place]), error) for place, error in part.refused.items()]
            if not part.uploads:
                batch.add(refused)
                continue
            sent = [(upload.name, upload.content) for upload in part.uploads.values()]
            send = Send(
                "POST", "/detections/files", form=form, files=sent, idempotency_key=f"{key}-{number}", work=WORK_SECONDS
            )
            try:
                answer = yield from self.json(send)
            except InkcloakError as error:
                if not number:
                    raise
                refused += [_unread(place, upload.name, error) for place, upload in part.uploads.items()]
                batch.add(refused)
                continue
            batch.add(refused)
            batch.add(shaped(_file_items, answer, part.uploads), answer)
        yield from self._follow(batch, deadline)
        ordered = sorted(batch.items, key=lambda item: item.file.place)
        return tuple(replace(item, place=place) for place, item in enumerate(ordered))

    def _follow(self, batch: "_Batches", deadline: float) -> Steps[None]:
        """Looks at what is running until nothing is, or the time is over; what can't be looked at stays as it was."""
        look = FIRST_LOOK_SECONDS
        while (running := batch.running()) and self.clock() < deadline:
            yield Pause(min(look, max(0.0, deadline - self.clock())))
            look = min(LONGEST_LOOK_SECONDS, look * 1.5)
            try:
                answer = yield from self.json(Send("GET", f"/batches/{running}"))
            except InkcloakError:
                return
            shaped(batch.update, answer)


class _Batches:
    """What is known of the batches of one call."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.items: list[Any] = []
        self.places: dict[str, dict[int, int]] = {}  # of a running batch: place in it -> place in `items`

    def add(self, items: Sequence[Item], answer: Mapping[str, Any] | None = None) -> None:
        """answer: of the batch that they are in, in its order; None for those that are in none."""
        if answer is not None and answer["status"] != "finished":
            begin = len(self.items)
            self.places[answer["id"]] = {found["place"]: begin + at for at, found in enumerate(answer["items"])}
        self.items += items
        self._tell()

    def running(self) -> str:
        return next(iter(self.places), "")

    def update(self, answer: Mapping[str, Any]) -> None:
        """Puts what a batch says now in the place of what it said; what it leaves out stays."""
        places = self.places[answer["id"]]
        for found in answer["items"]:
            if found.get("detection") and (at := places.get(found["place"])) is not None:
                self.items[at] = replace(self.items[at], detection=Detection.from_json(found["detection"]))
        if answer["status"] == "finished":
            del self.places[answer["id"]]
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(sum(item.is_finished for item in self.items), len(self.items))


def _item(found: Mapping[str, Any], first: int) -> Item:
    detection = found.get("detection")
    return Item(first + found["place"], Detection.from_json(detection) if detection else None, problem_in(found))


def _items(answer: Mapping[str, Any], first: int) -> list[Item]:
    return [_item(found, first) for found in answer["items"]]


def _file_items(answer: Mapping[str, Any], uploads: Mapping[int, Upload]) -> list[FileItem]:
    """The items of one request's files, numbered as the caller gave them."""
    places = list(uploads)
    files = [
        FileRead.from_json(place, uploads[place].name, found)
        for place, found in zip(places, answer["files"], strict=True)
    ]
    items = [_item(found, 0) for found in answer["items"]]
    return [
        FileItem(item.place, item.detection, item.problem, files[found["file"]], found.get("row"))
        for item, found in zip(items, answer["items"], strict=True)
    ]


def _unread(place: int, name: str, error: InkcloakError) -> FileItem:
    """A file of which the service knows nothing."""
    file = FileRead(place, name, None, 0, {}, (), None, error)
    return FileItem(0, None, error, file, None)


def _form(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as a form's strings."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}


def texts_in(texts: Iterable[str]) -> list[str]:
    """Raises TypeError for what is no string, and for a single one: it would be taken for a list of characters."""
    if isinstance(texts, str):
        raise TypeError("this takes several texts; for one there is detect()")
    found = list(texts)
    if not all(isinstance(text, str) for text in found):
        raise TypeError("each text must be a string")
    return found
