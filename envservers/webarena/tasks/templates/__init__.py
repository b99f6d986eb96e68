"""The templates, a file for each part of a site."""
