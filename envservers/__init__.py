"""The environments that ship with agentenv, one folder a family."""
