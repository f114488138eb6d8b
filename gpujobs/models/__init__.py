from gpujobs.models.alert import Alert, AlertClock, AlertDelivery, AlertMute, AlertVote, AlertWatch
from gpujobs.models.audit import AuditEntry
from gpujobs.models.budget import Budget, BudgetNotice, BudgetOverride, BudgetReservation
from gpujobs.models.cost import AccountQuarter, CostEntry, CostQuarter, Price, ReconciledDay, Service
from gpujobs.models.meter import MachineMeter
from gpujobs.models.registry import AliasMove, ModelAlias, ModelVersion
from gpujobs.models.routing import RoutingChange
from gpujobs.models.run import GpuRun, RunEvent

__all__ = [
    "AccountQuarter",
    "Alert",
    "AlertClock",
    "AlertDelivery",
    "AlertMute",
    "AlertVote",
    "AlertWatch",
    "AliasMove",
    "AuditEntry",
    "Budget",
    "BudgetNotice",
    "BudgetOverride",
    "BudgetReservation",
    "CostEntry",
    "CostQuarter",
    "GpuRun",
    "MachineMeter",
    "ModelAlias",
    "ModelVersion",
    "Price",
    "ReconciledDay",
    "RoutingChange",
    "RunEvent",
    "Service",
]
