"""Rollout engines: token ids in, token ids and log-probabilities out. Each has a factory
`make(path, *, stop_ids, **options)`: a model's folder, the ids that end a turn, and `rollout.engine_options`.

| module | what it is |
| --- | --- |
| hf | transformers in this process; needs nothing else, and has the mode that repeats bit for bit |
| vllm | vLLM in a process of its own; continuous batching |
"""
