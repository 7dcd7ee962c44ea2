"""The safe files of tau-ARGUS, as it writes them itself."""
