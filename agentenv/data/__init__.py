"""Tasks as data for trainers, and data of other projects: the commands of `agentenv data`."""
