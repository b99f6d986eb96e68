"""One folder a site."""
