"""A task-list service: projects, sections, tasks, dates, priorities, labels and people."""
