"""The learner on FSDP2, from one CPU process to many GPUs."""
