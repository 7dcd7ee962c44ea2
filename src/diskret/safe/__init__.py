"""SAFE: k-anonymous microdata that keep their tables."""
