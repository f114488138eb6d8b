"""The command `inkcloak`: check, login, logout, usage, verify.

Made with click: it is here already with Celery and uvicorn, needs nothing else, and brings what a command needs beside
options: a progress bar, colours on terminals only, questions without echo, the folder of the user. (typer would add
four packages to it, tqdm one for the bar alone.)

Results go to standard output, everything else to standard error. There is no option for the key: command lines are
visible to everybody on the machine.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from urllib.parse import urlsplit

import click

from inkcloak.client import kept, printing, reports, sources
from inkcloak.client.api import KEY_VARIABLE, URL_VARIABLE, WAIT_FOR_MANY_SECONDS, Client, usable_key
from inkcloak.client.calls import Options
from inkcloak.client.checking import Checked, Desk, Progress
from inkcloak.client.errors import InkcloakError, KeyRefused
from inkcloak.client.sources import Source

MAX_TROUBLES = 20  # lines about what could not be checked
MISSING_SCOPE = "missing_scope"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
# What of a report is worth a line, where it is there.
REPORTED = ("issued_at", "id", "verdict", "probability", "ai_fraction", "model_version", "text_sha256")


class Exit(IntEnum):
    """How the command ends; docs/client.md promises these."""

    OK = 0
    OVER = 1  # a text is over the limit of --fail-over; a report must not be believed
    USAGE = 2  # it was called wrongly: options, names, no key
    UNCHECKED = 3  # something could not be checked
    INTERRUPTED = 130
    PIPE = 141  # whoever read the output went away


class Wrong(click.ClickException):
    """Called wrongly."""

    exit_code = Exit.USAGE


class Failed(click.ClickException):
    """It could not be done."""

    exit_code = Exit.UNCHECKED


@dataclass(frozen=True, slots=True)
class Service:
    """Which service is meant. url: as the user said it."""

    url: str | None

    @property
    def address(self) -> str:
        try:
            return kept.url(self.url)
        except ValueError as error:
            raise Wrong(str(error)) from None

    def client(self, key: str = "") -> Client:
        address = self.address
        _warn_of_plain_http(address)
        if not key and KEY_VARIABLE not in os.environ and kept.is_open_to_others():
            _note(f"Others can read {kept.folder() / kept.CONFIG}: make it yours alone, and rotate the key.")
        try:
            return Client(usable_key(key or kept.api_key(address)), address)
        except ValueError:
            raise Wrong(f"No API key for this service: run `inkcloak login`, or set {KEY_VARIABLE}.") from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--url", metavar="URL", help=f"The service. Default: {URL_VARIABLE}, or the one you logged in to.")
@click.version_option(package_name="inkcloak", prog_name="inkcloak")
@click.pass_context
def app(context: click.Context, url: str | None) -> None:
    """Says whether texts read like the output of a language model. A score is evidence, never proof."""
    context.obj = Service(url)


# --- check ---------------------------------------------------------------------------------------------------


@app.command()
@click.argument("names", nargs=-1, metavar="[FILE|FOLDER|PATTERN|-]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each text.")
@click.option(
    "--fail-over", type=click.FloatRange(0, 1), metavar="P", help="Exit with 1 if a text's probability is over P."
)
@click.option(
    "--max-fpr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="The share of human texts that may be called AI: 0.005, 0.01 (default) or 0.05.",
)
@click.option("--language", metavar="CODE", help="The texts' language, where they leave it open.")
@click.option("--model", metavar="VERSION", help="A model version, which then answers and no other.")
@click.option("--no-store", is_flag=True, help="The service forgets each text as soon as there is a verdict.")
@click.option(
    "--wait",
    type=click.FloatRange(1, 86_400),
    default=WAIT_FOR_MANY_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for verdicts.",
)
@click.option("--quiet", "-q", is_flag=True, help="No progress bar, no summary.")
@click.pass_obj
def check(
    service: Service,
    names: Sequence[str],
    as_json: bool,
    fail_over: float | None,
    max_fpr: float | None,
    language: str | None,
    model: str | None,
    no_store: bool,
    wait: float,
    quiet: bool,
) -> int:
    """Check standard input, files, folders and patterns: txt, md, html, pdf, docx, and csv with one text a row.

    Exit status: 0 all checked; 1 a text is over --fail-over; 2 called wrongly; 3 something could not be checked.
    """
    options: Options = {}
    if max_fpr is not None:
        options["max_fpr"] = max_fpr
    if language is not None:
        options["language"] = language
    if model is not None:
        options["model"] = model
    if no_store:
        options["store"] = False
    with service.client() as client:
        found = _gather(names)
        with _bar(len(found), quiet) as progress:
            checked = list(Desk(client, options, wait).check_all(found, progress))
        checked = _with_everything(client, checked)
    _print(checked, as_json=as_json, quiet=quiet)
    return _end(checked, fail_over, quiet=quiet)


def _gather(names: Sequence[str]) -> list[Source]:
    if not names:
        if sys.stdin.isatty():
            raise click.UsageError("Name files or folders, or send a text to standard input.")
        names = [sources.STDIN]
    try:
        return sources.gather(names)
    except sources.NothingThere as error:
        raise Wrong(f"Nothing to check at {printing.safe(str(error))}") from None
    except OSError as error:
        raise Wrong(f"Can't be read: {printing.safe(str(error.filename))}: {error.strerror}") from None


@contextmanager
def _bar(length: int, quiet: bool) -> Iterator[Progress]:
    """A bar on standard error, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done: None
        return
    with click.progressbar(length=length, label="Checking", file=sys.stderr) as bar:
        yield lambda done: bar.update(max(0, int(done) - bar.pos))


def _with_everything(client: Client, checked: list[Checked]) -> list[Checked]:
    """A single text's segments and rate card, which files and batches come without."""
    if len(checked) != 1 or checked[0].problem is not None:
        return checked
    (one,) = checked
    if one.detection is None or one.detection.segments is not None:
        return checked
    try:
        return [Checked(one.name, one.row, client.get(one.detection.id), None)]
    except InkcloakError:
        return checked  # a key that may write and not read: what is there is enough


def _print(checked: Sequence[Checked], *, as_json: bool, quiet: bool) -> None:
    done = [one for one in checked if one.problem is None]
    if as_json:
        for one in checked:
            click.echo(json.dumps(printing.record(one)))
    elif len(checked) == 1:
        for one in done:
            click.echo(printing.full(one))
    elif done:
        click.echo(printing.heading())
        for one in done:
            click.echo(printing.line(one))
    troubles = [one for one in checked if one.problem is not None]
    for one in troubles[:MAX_TROUBLES]:
        _note(printing.trouble(one))
    if len(troubles) > MAX_TROUBLES:
        _note(f"… and {len(troubles) - MAX_TROUBLES} more could not be checked.")
    if not quiet and not as_json and done:
        _note(f"{printing.summary(checked)}. {printing.CAUTION}")


def _end(checked: Sequence[Checked], fail_over: float | None, *, quiet: bool) -> Exit:
    over = [one for one in checked if one.problem is None and _is_over(one, fail_over)]
    if over:
        if not quiet:
            _note(f"Over {fail_over:g}: {len(over)} of {len(checked)}.")
        return Exit.OVER
    return Exit.OK if all(one.problem is None for one in checked) else Exit.UNCHECKED


def _is_over(one: Checked, limit: float | None) -> bool:
    probability = None if one.detection is None else one.detection.probability
    return limit is not None and probability is not None and probability > limit


# --- The account ---------------------------------------------------------------------------------------------


@app.command()
@click.pass_obj
def login(service: Service) -> None:
    """Ask for an API key, try it, and keep it in your own folder, readable by you alone."""
    address = service.address
    if sys.stdin.isatty():
        key = click.prompt(f"API key for {address}", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    try:
        key = usable_key(key)
    except ValueError as error:
        raise Wrong(str(error)) from None
    with service.client(key) as client:
        _try_key(client)
    try:
        place = kept.remember(address, key)
    except OSError as error:
        raise Failed(f"The key works, but can't be kept in {kept.folder()}: {error.strerror}") from None
    _note(f"The key works, and is kept in {place}.")
    if KEY_VARIABLE in os.environ:
        _note(f"{KEY_VARIABLE} is set, and wins over it.")


def _try_key(client: Client) -> None:
    try:
        client.usage()
    except KeyRefused as error:
        if error.code != MISSING_SCOPE:  # a good key that may only check
            raise Failed(f"The key is refused: {printing.reason(error)}") from None
    except InkcloakError as error:
        raise Failed(f"The key could not be tried, and was not kept: {printing.reason(error)}") from None


@app.command()
@click.pass_obj
def logout(service: Service) -> None:
    """Forget the key of this service here. It stays valid: revoke it on its page."""
    try:
        known = kept.forget(service.address)
    except OSError as error:
        raise Failed(f"{kept.folder()} can't be written: {error.strerror}") from None
    _note("The key is forgotten here. It stays valid until you revoke it." if known else "There was no key.")


@app.command()
@click.option("--json", "as_json", is_flag=True, help="The API's own object.")
@click.pass_obj
def usage(service: Service, as_json: bool) -> None:
    """Say what is used of this month's words, and what is left."""
    with service.client() as client:
        try:
            found = client.usage()
        except InkcloakError as error:
            raise Failed(printing.reason(error)) from None
    click.echo(json.dumps(found.raw) if as_json else printing.usage(found))


# --- verify --------------------------------------------------------------------------------------------------


@app.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--keys",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The service's public keys, as /.well-known/inkcloak-keys.json has them.",
)
@click.option("--offline", is_flag=True, help="Ask nobody: only --keys, or keys of the service kept from before.")
@click.pass_obj
def verify(service: Service, files: Sequence[str], keys: str | None, offline: bool) -> int:
    """Check the signature of reports: whether the service made them, and nobody changed them since.

    Exit status: 0 all are good; 1 one must not be believed; 2 called wrongly; 3 the service's keys could not be had.
    """
    ends = [_verify(service, name, keys, offline=offline) for name in files]
    return Exit.OVER if Exit.OVER in ends else max(ends)


def _verify(service: Service, name: str, keys: str | None, *, offline: bool) -> Exit:
    shown = printing.safe(name)
    try:
        document = reports.read_json(_bytes_of(name))
        key_id = reports.key_id_in(document)
        report = reports.verify(document, _known(service, key_id, keys, offline=offline))
    except reports.ReportError as error:
        click.echo(f"{shown}: {click.style('NOT GOOD', fg='red', bold=True)}: {error.detail} ({error.code})")
        return Exit.OVER
    except InkcloakError as error:
        _note(f"{shown}: can't be checked: {printing.reason(error)}")
        return Exit.UNCHECKED
    click.echo(f"{shown}: the signature is good: made by the holder of key {printing.safe(key_id)}, unchanged since")
    for name_of_field in REPORTED:
        if report.get(name_of_field) is not None:
            click.echo(f"  {name_of_field.ljust(16)} {printing.safe(str(report[name_of_field]))}")
    return Exit.OK


def _known(service: Service, key_id: str, keys: str | None, *, offline: bool) -> tuple[reports.PublicKey, ...]:
    if keys is None:
        return kept.public_keys(service.address, key_id, offline=offline)
    try:
        return reports.read_keys(Path(keys).read_bytes())
    except reports.ReportError as error:
        raise Wrong(f"{printing.safe(keys)}: {error.detail}") from None
    except OSError as error:
        raise Wrong(f"{printing.safe(keys)}: {error.strerror}") from None


def _bytes_of(name: str) -> bytes:
    try:
        with click.open_file(name, "rb") as file:
            content: bytes = file.read(reports.MAX_BYTES + 1)
            return content
    except OSError as error:
        raise Wrong(f"{printing.safe(name)}: {error.strerror}") from None


# --- Around --------------------------------------------------------------------------------------------------


def _note(text: str) -> None:
    click.echo(text, err=True)


def _warn_of_plain_http(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        _note(f"Warning: http://{parts.netloc} is not encrypted. Everybody on the way can read key and texts.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status. click's own way out would give 1 to an interruption, which means something else here."""
    try:
        return int(app.main(arguments, prog_name="inkcloak", standalone_mode=False) or Exit.OK)
    except click.ClickException as error:
        error.show()
        return int(error.exit_code) if isinstance(error, Wrong | Failed) else int(Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        _note("Interrupted. What was sent already is checked all the same.")
        return int(Exit.INTERRUPTED)
    except SystemExit as end:  # click's way out, with 1 where whoever read the output went away
        return int(Exit.PIPE if end.code == 1 else end.code or Exit.OK)
