"""Noise that depends on the records of a cell alone: cell keys, perturbation tables, and the attack on both."""
