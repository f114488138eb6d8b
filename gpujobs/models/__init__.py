from gpujobs.models.registry import AliasMove, ModelAlias, ModelVersion
from gpujobs.models.routing import RoutingChange
from gpujobs.models.run import GpuRun, RunEvent

__all__ = ["AliasMove", "GpuRun", "ModelAlias", "ModelVersion", "RoutingChange", "RunEvent"]
