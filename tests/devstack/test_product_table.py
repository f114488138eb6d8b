"""The table of processes fits the product: every place filled, every queue served, every task's queue known."""

from django.conf import settings

from devstack import programs
from devstack.checkout import Checkout


def _product(tmp_path):
    stack = programs.product(Checkout.at(tmp_path), host="127.0.0.9")
    environment = {"PORT": "8123", "RUNPOD_ENDPOINT_ID": "4m7x"}  # with an endpoint it has a worker for the GPU's queue
    return stack, {program.name: program for program in stack.programs(environment)}


def test_every_place_in_the_command_lines_is_filled(tmp_path):
    _, table = _product(tmp_path)
    words = [word for program in table.values() for word in program.argv]
    assert not [word for word in words if "{" in word]
    assert table["web"].argv[-5:-2] == ("127.0.0.9", "--port", "8123")


def test_every_queue_that_a_task_is_sent_to_has_a_worker(tmp_path):
    _, table = _product(tmp_path)
    served = [program.argv[program.argv.index("-Q") + 1] for program in table.values() if "-Q" in program.argv]
    sent_to = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {settings.CELERY_TASK_DEFAULT_QUEUE}
    assert sorted(served) == sorted(sent_to)


def test_without_an_endpoint_nobody_waits_for_a_gpu(tmp_path):
    stack = programs.product(Checkout.at(tmp_path), host="127.0.0.9")
    assert [program.name for program in stack.programs({"PORT": "8123"})] == ["web", "score", "steps", "beat"]


def test_beat_keeps_its_schedule_in_the_state_folder_and_no_pid_file(tmp_path):
    _, table = _product(tmp_path)
    assert f"--schedule={tmp_path}/var/beat-schedule" in table["beat"].argv
    assert "--pidfile=" in table["beat"].argv


def test_it_announces_the_address(tmp_path):
    stack, _ = _product(tmp_path)
    assert stack.ready_line.format(port=8123) == "InkCloak is ready: http://127.0.0.1:8123"
    assert stack.health_path == "/healthz"


def test_every_process_carries_the_mark_of_its_stack(tmp_path):
    _, table = _product(tmp_path)
    assert {program.env["INKCLOAK_STACK"] for program in table.values()} == {str(tmp_path / "var")}
