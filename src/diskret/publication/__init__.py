"""What leaves the office."""
