"""Which further cells must go so that primary cells cannot be computed back."""
