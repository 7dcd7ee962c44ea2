"""The optimum of small tables: cuts of all attackers over a mixed-integer programme."""
