"""Readers and writers for foreign formats."""
