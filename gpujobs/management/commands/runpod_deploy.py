"""`manage.py runpod_deploy [--yes]`: RunPod's template and endpoint as the settings want them.

Prints the plan first, and carries it out with --yes only. Twice does what once does. Secrets are never printed.
"""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from gpujobs import endpoints
from gpujobs.endpoint_plan import Plan, PlanError, Step, Wanted, plan
from gpujobs.endpoints import NotDone, NotFound
from gpujobs.providers.runpod_rest import FORBIDDEN, UNAUTHORIZED, UNPAID, RunpodError, RunpodRest

FIXES = {
    UNAUTHORIZED: "RunPod refuses RUNPOD_API_KEY: make a new key in its console.",
    FORBIDDEN: "This key may not manage endpoints: give it read and write access to the API (docs/runpod.md).",
    UNPAID: "The account needs credit.",
}


class Command(BaseCommand):
    help = "Create or update RunPod's template and serverless endpoint; shows the plan, does it with --yes."
    requires_system_checks: list[str] = []  # before the first deployment there is no endpoint id to check

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--yes", action="store_true", help="carry the plan out")
        parser.add_argument("--image", default="", help="instead of RUNPOD_IMAGE")
        parser.add_argument(
            "--ignore",
            action="append",
            default=[],
            metavar="NAME",
            help="leave this setting of RunPod's as it is (as in env.EXTRA); may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.RUNPOD_API_KEY:
            raise CommandError("RUNPOD_API_KEY is not set: docs/runpod.md says where to get it.")
        rest = RunpodRest.from_settings()
        try:
            want = endpoints.wanted(options["image"])
            self._deploy(rest, want, [_plain(name) for name in options["ignore"]], carry_out=options["yes"])
        except (PlanError, NotFound, NotDone) as error:
            raise CommandError(str(error)) from None
        except RunpodError as error:
            said = endpoints.masked(str(error))
            raise CommandError("\n".join([said, *filter(None, [FIXES.get(error.code)])])) from None
        finally:
            rest.close()

    def _deploy(self, rest: RunpodRest, want: Wanted, ignore: list[str], *, carry_out: bool) -> None:
        endpoint_id = settings.RUNPOD_ENDPOINT_ID
        found = endpoints.find(rest, want, endpoint_id)
        todo = plan(want, endpoint=found.endpoint, template=found.template, ignore=ignore)
        self.stdout.write("\n".join(as_lines(todo)))
        if todo.refused:
            raise CommandError(_refusal(todo.refused))
        if todo.steps and not carry_out:
            self.stdout.write("Nothing is changed yet: the same command with --yes does it.")
            return
        endpoint = endpoints.apply(rest, want, endpoint_id, ignore=ignore, done=self._tell)
        self.stdout.write(f"Endpoint {endpoint.name} is as wanted: {endpoint.id}")
        if endpoint.id != endpoint_id:
            self.stdout.write(
                f"Put this into the environment of web and workers:\n\nRUNPOD_ENDPOINT_ID={endpoint.id}\n"
            )
        if todo.steps:
            self.stdout.write("Then see whether it answers: manage.py runpod_doctor")

    def _tell(self, step: Step) -> None:
        self.stdout.write(f"{step.what} {step.name}: {'changed' if step.id else 'created'}")


def as_lines(todo: Plan) -> Iterable[str]:
    """The plan for people."""
    if not todo.steps and not todo.refused:
        yield "Nothing to do: template and endpoint are as wanted."
    for step in todo.steps:
        yield f"{step.what} {step.name}: " + (f"change {step.id}" if step.id else "create")
        width = max(len(line.name) for line in step.lines)
        for line in step.lines:
            yield f"    {line.name:<{width}}  " + (f"{line.before} -> {line.after}" if step.id else line.after)
    for note in todo.notes:
        yield f"Note: {note}"


def _refusal(names: Iterable[str]) -> str:
    listed = "\n".join(f"    {name}" for name in names)
    return (
        f"Set at RunPod, and nothing that this release understands:\n{listed}\n"
        "Undo it in RunPod's console, or leave it as it is with --ignore NAME."
    )


def _plain(name: str) -> str:
    """Names are told with what they belong to; either way may be given back."""
    return name.removeprefix("endpoint.").removeprefix("template.")
