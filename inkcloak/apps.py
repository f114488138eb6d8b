from django.apps import AppConfig


class InkcloakConfig(AppConfig):
    name = "inkcloak"

    def ready(self) -> None:
        from inkcloak import checks  # noqa: F401  registers the system checks
