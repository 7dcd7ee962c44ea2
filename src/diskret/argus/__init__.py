"""tau-ARGUS batch files: translated into jobs, run, explained."""
