"""`manage.py runpod_doctor [--json]`: what is wrong with the RunPod endpoint, and the fix; exit status 1 on trouble."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from gpujobs import checkup
from gpujobs.backends.runpod_http import RunpodHttp
from gpujobs.checkup import Finding
from gpujobs.providers.runpod_rest import RunpodRest


class Command(BaseCommand):
    help = "Check key, endpoint, scaler, workers, balance and model of the RunPod endpoint; say what to fix."
    requires_system_checks: list[str] = []  # it says itself what is not set

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines for people")
        parser.add_argument("--wait", type=float, default=240.0, help="seconds to wait for the one-text job")
        parser.add_argument("--no-job", action="store_true", help="send no job: wakes no worker, costs nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        http = RunpodHttp(
            settings.RUNPOD_BASE_URL,
            settings.RUNPOD_ENDPOINT_ID,
            settings.RUNPOD_API_KEY,
            timeout_seconds=settings.RUNPOD_TIMEOUT_SECONDS,
        )
        rest = RunpodRest.from_settings()
        found: list[Finding] = []
        try:
            for finding in checkup.examine(rest, http, job_seconds=0 if options["no_job"] else options["wait"]):
                found.append(finding)
                if not options["json"]:
                    self._tell(finding)
        finally:
            rest.close()
        ok = all(finding.state != "trouble" for finding in found)
        if options["json"]:
            self.stdout.write(as_json(found, ok=ok))
        if not ok:
            raise SystemExit(1)

    def _tell(self, finding: Finding) -> None:
        """At once: the job may take minutes."""
        self.stdout.write(f"{finding.state:<8} {finding.name:<9} {finding.says}")
        if finding.fix:
            self.stdout.write(f"{'':<18} -> {finding.fix}")
        self.stdout.flush()


def as_json(found: Sequence[Finding], *, ok: bool) -> str:
    """{"ok": …, "findings": [{"name", "state", "says", "fix"}, …]}; ok: without trouble."""
    return json.dumps({"ok": ok, "findings": [asdict(finding) for finding in found]})
