"""Which cells and lines are sensitive."""
