"""How safe it is: estimates before collection, measures on files, and the attack by record linkage."""
