"""`make bench-check`: a warm check of 250 words, from form post to the page that shows the verdict.

The model's share is what the scorer itself measured (`GpuRun.execution_ms`); the rest is everything else: form,
reading, quota, rows, messages, verdict, page. Needs a running product: BASE_URL and its database in the environment.
"""

import json
import os
import re
import statistics
import time
import uuid

import django
import httpx

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")
django.setup()

from gpujobs.models import GpuRun  # noqa: E402  needs django.setup()

WARM_UP_CHECKS = 3
CHECKS = 30
REST_TARGET_MS = 100

PARAGRAPH = """The harbour office keeps a ledger of every boat that comes in, and for forty years the same woman wrote
it by hand. She began each entry with the weather, because she held that a boat and its weather could not be told apart,
and she ended it with a remark that nobody had asked for. When the port authority bought a computer she went on writing,
and a clerk typed her pages in the evening. The clerk left out the remarks at first. Then an insurer asked why a trawler
had docked a day late, and the only answer in the building was one of her remarks, about a broken winch and a crew that
had been singing when they tied up. After that he typed everything. The ledger now runs to some thirty thousand lines.
People come to read it who have no boat and no claim: a school class, a man writing about storms, a daughter looking for
the week in which her father stopped answering letters. They sit at the long table under the clock, and the pages are
brought to them in grey boxes, four at a time. Most of them say afterwards that they had expected numbers. What they
found was closer to a diary kept on behalf of a town, patient and a little sharp, in which nothing is explained and very
little is forgotten, and in which every single day begins by looking out of the window to see what the sky intends."""


def check(client: httpx.Client) -> tuple[float, int]:
    """One check. Returns (milliseconds from post to the page with the verdict, milliseconds in the scorer)."""
    form = client.get("/").text
    fields = {
        "csrfmiddlewaretoken": _hidden(form, "csrfmiddlewaretoken"),
        "nonce": str(uuid.uuid4()),
        "text": PARAGRAPH.replace("\n", " "),
    }
    begin = time.perf_counter()
    page = client.post("/check", data=fields, headers={"Referer": str(client.base_url)})
    while page.status_code == 200 and "data-verdict=" not in page.text:
        page = client.get(page.url)
    taken = (time.perf_counter() - begin) * 1000
    page.raise_for_status()
    run = GpuRun.objects.get(submissions=uuid.UUID(page.url.path.rstrip("/").rsplit("/", 1)[-1]))
    return taken, run.execution_ms or 0


def _hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*value="([^"]+)"', html)
    if found is None:
        raise SystemExit(f"the form has no field {name}")
    return found.group(1)


def main() -> None:
    with httpx.Client(base_url=os.environ["BASE_URL"], follow_redirects=True, timeout=60) as client:
        for _ in range(WARM_UP_CHECKS):
            check(client)
        timed = [check(client) for _ in range(CHECKS)]
    rest = [total - model for total, model in timed]
    figures = {
        "total_ms_p50": round(statistics.median(total for total, _ in timed), 1),
        "model_ms_p50": round(statistics.median(model for _, model in timed), 1),
        "rest_ms_p50": round(statistics.median(rest), 1),
        "rest_ms_p95": round(statistics.quantiles(rest, n=20)[-1], 1),
        "checks": CHECKS,
    }
    print(f"{CHECKS} checks of {len(PARAGRAPH.split())} words, one after the other")
    for name, value in figures.items():
        print(f"  {name:14} {value}")
    print(json.dumps({"bench": "check", "figures": figures, "targets": {"rest_ms_p50": REST_TARGET_MS}}))


if __name__ == "__main__":
    main()
