"""What the other rooms talk about: hierarchies, tables, status, errors."""
