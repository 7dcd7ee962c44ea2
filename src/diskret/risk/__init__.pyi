from diskret.risk.anonymity import measure_anonymity as measure_anonymity
from diskret.risk.estimate import estimate_reidentifiable as estimate_reidentifiable
from diskret.risk.linkage_attack import attack as attack
from diskret.risk.measure import measure_risk as measure_risk
from diskret.risk.options import LinkageOptions as LinkageOptions
from diskret.risk.planning import plan_merges as plan_merges
