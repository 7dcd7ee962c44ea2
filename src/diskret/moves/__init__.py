"""Cells that change together without touching what is published: finding such moves, checking them, keeping them."""
