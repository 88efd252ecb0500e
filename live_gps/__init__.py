"""Live vehicles: fixes from phones and receivers become vehicles in the world."""
