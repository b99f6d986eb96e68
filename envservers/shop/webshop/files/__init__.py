"""WebShop's own files as a catalogue."""
