"""Experiments: measurements over many cells, each a pure function of its parameters."""
