"""Measurements a reader can repeat: `workbench bench`."""
