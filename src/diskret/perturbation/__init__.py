"""Changing values instead of hiding them."""
