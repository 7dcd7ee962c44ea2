from diskret.rules.compare import compare_rules as compare_rules
from diskret.rules.frequency import OneCategory as OneCategory
from diskret.rules.frequency import SmallCells as SmallCells
from diskret.rules.frequency import SmallMargin as SmallMargin
from diskret.rules.magnitude import PQ as PQ
from diskret.rules.magnitude import Dominance as Dominance
from diskret.rules.magnitude import MinCount as MinCount
from diskret.rules.magnitude import PPercent as PPercent
