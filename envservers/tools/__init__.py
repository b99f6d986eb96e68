"""Tool use: services with typed tools over a state of their own, judged by what the state is at the end."""
