from agentenv.registry import Concurrency, EnvSpec

SPECS = [
    EnvSpec(
        id="lighthouse",
        version="2",
        gym_name="Lighthouse-v2",
        title="Switch the lamp on at night",
        entry="lighthouse.env:Lighthouse",
        tasks="lighthouse.tasks:make_tasks",
        concurrency=Concurrency.INLINE,
        max_steps=5,
        success_rule="the lamp is on at night and off by day",
        action_grammar="on\noff",
    )
]
