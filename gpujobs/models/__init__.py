from gpujobs.models.budget import Budget, BudgetOverride, BudgetReservation
from gpujobs.models.cost import AccountQuarter, CostEntry, CostQuarter, Price, ReconciledDay, Service
from gpujobs.models.registry import AliasMove, ModelAlias, ModelVersion
from gpujobs.models.routing import RoutingChange
from gpujobs.models.run import GpuRun, RunEvent

__all__ = [
    "AccountQuarter",
    "AliasMove",
    "Budget",
    "BudgetOverride",
    "BudgetReservation",
    "CostEntry",
    "CostQuarter",
    "GpuRun",
    "ModelAlias",
    "ModelVersion",
    "Price",
    "ReconciledDay",
    "RoutingChange",
    "RunEvent",
    "Service",
]
