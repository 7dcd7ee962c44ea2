"""Speed and quality, measured side by side with peers and written to a table. Nothing here asserts on time."""
