"""Hypothesis draws the same examples on every machine: a test fails for a change, never for bad luck."""

from hypothesis import settings

settings.register_profile("same_everywhere", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("same_everywhere")
