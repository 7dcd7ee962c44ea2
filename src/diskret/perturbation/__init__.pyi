from diskret.perturbation.attack import attack_perturbed as attack_perturbed
from diskret.perturbation.contributions import suppress_contributions as suppress_contributions
from diskret.perturbation.merging import propose_merging as propose_merging
from diskret.perturbation.rounding import round_table as round_table
