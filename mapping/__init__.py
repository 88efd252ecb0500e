"""The live map, the replay page and the figures of reports."""
