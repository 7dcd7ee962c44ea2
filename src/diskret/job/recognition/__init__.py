"""What a column is: facts of its entries, meanings of its name, known classifications, and judges of all that."""
