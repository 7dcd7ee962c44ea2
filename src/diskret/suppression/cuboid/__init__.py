"""The cuboid method (Quaderverfahren)."""
