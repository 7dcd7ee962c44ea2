"""Where `Knowledge` and `Protection` were before there was a promise; goes when perturbation takes a promise."""

from diskret.model.knowledge import Knowledge
from diskret.model.older import Protection

__all__ = ["Knowledge", "Protection"]
