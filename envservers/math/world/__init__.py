"""The generator of word problems: templates and words as data, numbers drawn from a seed."""
