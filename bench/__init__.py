"""Measurements of speed and memory; `python -m bench` runs them."""
