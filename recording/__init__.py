"""Keeping runs: the store and its backends, the recorder service, exports. Imports `wire` only."""
