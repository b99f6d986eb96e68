"""A browser without a browser: pages of the declared vocabulary, their accessibility tree, links and forms."""
