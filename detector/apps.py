import threading

from django.apps import AppConfig
from django.conf import settings


class DetectorConfig(AppConfig):
    name = "detector"

    def ready(self) -> None:
        if settings.WARM_UP:
            # Beside the start, not before it: /healthz answers at once, and the first check finds it loaded.
            threading.Thread(target=_load_language_model, daemon=True, name="warm-up").start()


def _load_language_model() -> None:
    from gpujobs.pod.shared.language import detect

    detect("Loading the model of languages takes a second, so the first visitor need not wait for it.")
