from django.apps import AppConfig
from django.db.models.signals import post_migrate


class GpuJobsConfig(AppConfig):
    name = "gpujobs"

    def ready(self) -> None:
        """Checks of the settings; list prices and the first budgets after a migration."""
        from gpujobs import budget_rows, checks, prices  # noqa: F401 (registers)

        post_migrate.connect(budget_rows.make_first, sender=self, dispatch_uid="gpujobs.first_budgets")
        post_migrate.connect(prices.seed, sender=self, dispatch_uid="gpujobs.list_prices")
