"""The account in a file, so that a demo finds tomorrow what it left today. JSON; written whole, then renamed."""

import json
from dataclasses import asdict
from pathlib import Path

from tests.loopback.stripe.deliveries import Deliveries
from tests.loopback.stripe.world import World


def save(world: World, deliveries: Deliveries, path: Path) -> None:
    """All but the answers kept for idempotency keys, the log of requests and the faults."""
    data = {
        "clock": world.clock.to_json(),
        "store": world.store.to_json(),
        "hidden": world.hidden,
        "habits": asdict(world.habits),
        "deliveries": deliveries.all,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(data))
    draft.replace(path)


def load(world: World, deliveries: Deliveries, path: Path) -> bool:
    """Whether there was one. What was queued when it ended is sent again."""
    if not path.exists():
        return False
    data = json.loads(path.read_text())
    world.clock.restore(data["clock"])
    world.store.restore(data["store"])
    world.hidden.update(data["hidden"])
    world.change_habits(data["habits"])
    deliveries.all.update(data["deliveries"])
    for row in deliveries.all.values():
        if row["status"] == "queued":
            deliveries.due(row)
    return True
