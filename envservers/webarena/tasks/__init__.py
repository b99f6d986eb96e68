"""Tasks: templates, the plans of their scripted solutions, splits."""
