from django.apps import AppConfig


class InkcloakConfig(AppConfig):
    name = "inkcloak"

    def ready(self) -> None:
        # Registers the system checks; makes our Celery application the one that tasks belong to.
        from inkcloak import celery, checks  # noqa: F401
