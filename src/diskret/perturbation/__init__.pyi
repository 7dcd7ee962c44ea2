from diskret.perturbation.adjusted_table import Adjustment as Adjustment
from diskret.perturbation.adjustment import adjust as adjust
from diskret.perturbation.contributions import suppress_contributions as suppress_contributions
from diskret.perturbation.merging import propose_merging as propose_merging
from diskret.perturbation.options import CuboidOptions as CuboidOptions
from diskret.perturbation.perturbation_attack import attack_perturbed as attack_perturbed
from diskret.perturbation.rounding import round_table as round_table
