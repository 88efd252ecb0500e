"""The `mve` command: scenarios, starting processes, the in-process world."""
