"""A run over a real server that is killed under it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from serve_coins import coin_process, end
from train_runs import coin_config, episodes_of, rows_of

from trainers.loop import train

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("coin")]


@contextlib.contextmanager
def killed_after_a_step(folder: Path, *, back_after_s: float | None) -> Iterator[Callable[[], str]]:
    """The URL of a server that dies when the first step's episodes are written; and comes back, or does not."""
    url, first = coin_process()
    servers = [first]
    over = threading.Event()

    def watch() -> None:
        while not (folder / "rollouts" / "train-00000001.jsonl").exists() and not over.wait(0.01):
            pass
        end(servers[0])
        if back_after_s is not None and not over.wait(back_after_s):
            servers.append(coin_process(int(url.rpartition(":")[2]))[1])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: url
    finally:
        over.set()
        watcher.join(30)
        for server in servers[1:]:
            end(server)


def test_a_server_that_comes_back_is_survived(model, tmp_path):
    with killed_after_a_step(tmp_path, back_after_s=1.0) as url:
        config = coin_config(model, tmp_path, run__steps=4, env__base_url=url(), env__options={"turns": 2})
        summary = train(config)
    assert (summary.reason, summary.step) == ("complete", 4)
    assert [row["train/episodes"] for row in rows_of(tmp_path)] == [8.0] * 4, "what was lost was played again"


def test_a_server_that_stays_away_ends_the_run_with_everything_saved(model, tmp_path):
    with killed_after_a_step(tmp_path, back_after_s=None) as url:
        config = coin_config(model, tmp_path, run__steps=50, env__base_url=url(), rollout__max_refills=0)
        started = time.monotonic()
        summary = train(config)
    assert "of the episodes were lost over the last steps" in summary.reason
    assert rows_of(tmp_path)[-1]["errors/rate/coin"] == 1.0
    assert time.monotonic() - started < 100
    last = episodes_of(tmp_path)[-1]
    assert {outcome for _, outcome, *_ in last} == {"infra_lost"}
    assert (tmp_path / "checkpoints" / f"step-{summary.step:08d}" / "state.json").exists()
