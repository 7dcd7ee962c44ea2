"""The attacker with a solver: what can be found out about hidden cells."""
