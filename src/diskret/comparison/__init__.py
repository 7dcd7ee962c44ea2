"""All methods side by side on the same microdata: what they protect, and what they cost."""
