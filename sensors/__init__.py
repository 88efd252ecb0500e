"""Simulated sensors: what a virtual vehicle sees of the others."""
