"""The kinds of tasks, by what is to be done."""
