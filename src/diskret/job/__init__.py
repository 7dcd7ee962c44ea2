"""Job files: what to do with which data, as typed models."""
