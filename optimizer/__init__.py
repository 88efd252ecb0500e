"""Studies: the search for the parameters under which autonomy fails."""
