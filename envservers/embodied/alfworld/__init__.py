"""A household in text: rooms, receptacles, objects, and six kinds of chores."""
