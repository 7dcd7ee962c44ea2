"""Complete tables: a table with subtotals seen as one without, so that cuboids hold over the whole of it."""
