"""The hub: State, run states, proximity, advisories, and its service."""
