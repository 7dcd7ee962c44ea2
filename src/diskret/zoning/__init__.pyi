from diskret.zoning.closing import Closed as Closed
from diskret.zoning.closing import close_differences as close_differences
from diskret.zoning.closing import zoning_system as zoning_system
from diskret.zoning.differences import Difference as Difference
from diskret.zoning.differences import Differences as Differences
from diskret.zoning.differences import find_differences as find_differences
from diskret.zoning.zones import Zoning as Zoning
