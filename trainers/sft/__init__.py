"""The supervised warm start: imitate oracle or recorded episodes, by the same renderer, batches and masks as RL."""
