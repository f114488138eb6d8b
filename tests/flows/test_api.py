"""The API of the running product: the same verdict by every way in, and two hundred who wait at once."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import samples
from product import Product, Visitor, eventually

TEXTS = {"human": samples.HUMAN, "ai": samples.AI, "mixed": samples.MIXED, "spanish": samples.SPANISH}
CLOSE = 1e-4
MANY = 200
HEALTHY_SECONDS = 0.1
SLOWER_AT_MOST = 3  # times, with two hundred waiting
LOOKS = 20
# Our own account has no limits, and no person either: no command makes a key for it.
MAKE_KEY = """
from django.utils import timezone
from billing import keys
from billing.accounts import internal_account
from billing.models import Scope
made = keys.issue(account=internal_account(), name="flows", scopes=Scope.values, now=timezone.now())
print("key:", made.token)
"""


@pytest.fixture(scope="module")
def headers(product: Product) -> dict[str, str]:
    """With a key that may do everything."""
    done = product.manage("shell", "-c", MAKE_KEY)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("key: ")]
    return {"Authorization": f"Bearer {line.removeprefix('key: ')}"}


@pytest.fixture
def api(product: Product, headers: dict[str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{product.url}/api/v1", headers=headers, timeout=90) as client:
        yield client


def test_page_api_batch_and_command_give_the_same_verdict(
    product: Product, visitor: Visitor, api: httpx.Client
) -> None:
    body = {"texts": [{"text": text, "metadata": {"name": name}} for name, text in TEXTS.items()]}
    batch = api.post("/detections/batch", json=body).raise_for_status().json()
    finished = eventually(
        lambda: (found := api.get(f"/batches/{batch['id']}").json())["status"] == "finished" and found
    )
    batched = {item["detection"]["metadata"]["name"]: item["detection"] for item in finished["items"]}
    for name, text in TEXTS.items():
        page, command = visitor.check(text), product.check_text(text)
        # With another line end: a repeat of the batch's text would get its verdict without a run.
        alone = api.post("/detections", json={"text": text + "\n"}, headers={"Prefer": "wait=60"}).json()
        for found in (batched[name], alone):
            assert found["verdict"] == page.label == command["verdict"]
            for number in ("probability", "ai_fraction"):
                assert found[number] == pytest.approx(command[number], abs=CLOSE)
                assert found[number] == pytest.approx(getattr(page, number), abs=CLOSE)


def test_a_body_that_comes_in_chunks_is_read_like_any_other(api: httpx.Client) -> None:
    """It announces no length, and is not taken for an empty one."""
    sent = {"Content-Type": "application/json"}
    assert api.post("/detections", content=iter([b'{"text": ', b'"Too short."}']), headers=sent).status_code == 201
    refused = api.post("/detections", content=iter([b'{"text": "', b"a" * 3_000_000, b'"}']), headers=sent)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def finished_batch(api: httpx.Client, number: str) -> dict[str, Any] | None:
    found: dict[str, Any] = api.get(f"/batches/{number}").json()
    return found if found["status"] == "finished" else None


def test_two_hundred_wait_and_the_process_still_answers(product: Product, headers: dict[str, str]) -> None:
    text = " ".join(samples.HUMAN.split()[:60])
    before = waiting_rows(product)

    async def all_of_them() -> tuple[list[int], float, float]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=product.url, timeout=120, limits=limits) as client:
            alone = await median(client)
            patient = headers | {"Prefer": "wait=60"}
            asked = [
                asyncio.create_task(client.post("/api/v1/detections", json={"text": f"{text} {n}."}, headers=patient))
                for n in range(MANY)
            ]
            with product.paused("score"):
                await asyncio.to_thread(eventually, lambda: waiting_rows(product) == before + MANY)
                beside = await median(client)
            return [answer.status_code for answer in await asyncio.gather(*asked)], alone, beside

    statuses, alone, beside = asyncio.run(all_of_them())
    assert set(statuses) <= {201, 202}
    assert statuses.count(201) > 0
    # On a machine that is busy with other things too, the answer alone may take that long.
    assert beside < max(HEALTHY_SECONDS, SLOWER_AT_MOST * alone), (alone, beside)


async def median(client: httpx.AsyncClient) -> float:
    return sorted([await timed(client) for _ in range(LOOKS)])[LOOKS // 2]


async def timed(client: httpx.AsyncClient) -> float:
    begin = time.monotonic()
    (await client.get("/healthz")).raise_for_status()
    await asyncio.sleep(0.1)
    return time.monotonic() - begin - 0.1


def waiting_rows(product: Product) -> int:
    """Queued by the API: all of them, as long as their worker sleeps."""
    query = "SELECT count(*) FROM detector_submission WHERE source = 'api' AND status IN ('queued', 'scoring')"
    return int(product.rows(query)[0][0])


def test_clients_that_hang_up_leave_nothing_behind(product: Product, headers: dict[str, str]) -> None:
    with product.paused("score"), httpx.Client(base_url=product.url, headers=headers | {"Prefer": "wait=60"}) as client:
        for n in range(5):
            with pytest.raises(httpx.ReadTimeout):
                client.post("/api/v1/detections", json={"text": f"{samples.AI} {n}"}, timeout=1.0)
        with product.redis() as broker:
            eventually(lambda: not broker.pubsub_channels("submission:*"))
    assert "Traceback" not in product.logs()
