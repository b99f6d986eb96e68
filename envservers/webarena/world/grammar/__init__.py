"""The words that worlds are made of, as YAML: what is sold, by department, and how people name things and write."""
