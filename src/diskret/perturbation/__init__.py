"""Changing values instead of hiding them: cuboid perturbation, rounding, cell-key noise, merging of categories."""
