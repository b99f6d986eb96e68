from typing import Any

from agentenv.protocol import Task
from agentenv.registry import TableTasks


def make_tasks(options: dict[str, Any]) -> TableTasks:
    times = {"train": ["day", "night"], "test": ["dusk"]}
    tables = {
        split: [
            Task(id=f"lighthouse/{split}/{i}", env="lighthouse", split=split, index=i, payload={"time": time})
            for i, time in enumerate(hours)
        ]
        for split, hours in times.items()
    }
    return TableTasks(tables=tables, version="2", options=options)
