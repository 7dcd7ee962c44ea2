"""Microdata that may leave: coarsening, microaggregation, noise, swapping, post-randomisation, and what they cost."""
