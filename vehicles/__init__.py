"""Virtual vehicles: models, behaviours, clocks, and the process that hosts a fleet of them."""
