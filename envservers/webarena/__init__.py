"""WebArena-style tasks on embedded sites: a shop, its admin and a homepage, by a real browser or without one."""
