"""ScienceWorld: the simulator of elementary science by the Allen Institute for AI, in a pool of Java machines."""
