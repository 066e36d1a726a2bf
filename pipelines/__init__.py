"""Jobs that a scheduler calls: ``graphrag-dual job run NAME``."""
