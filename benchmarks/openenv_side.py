"""OpenEnv's own server class and its own client: `openenv_side.py serve`, `openenv_side.py client URL PID`.

Runs in a virtual environment of its own, without agentenv.
"""

import asyncio
import sys

import side
from fixed import ACTION, REPLY
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

MOST_SESSIONS = 1024


class Said(Action):
    message: str


class Heard(Observation):
    text: str = ""


class Fixed(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(step_count=0)

    def reset(self, seed=None, episode_id=None, **options) -> Heard:
        return Heard(text=REPLY, done=False, reward=0.0)

    def step(self, action: Said, timeout_s=None, **options) -> Heard:
        self._state.step_count += 1
        return Heard(text=REPLY, done=False, reward=0.0)

    @property
    def state(self) -> State:
        return self._state


class Client(EnvClient[Said, Heard, State]):
    def _step_payload(self, action: Said) -> dict:
        return {"message": action.message}

    def _parse_result(self, payload: dict) -> StepResult[Heard]:
        seen = Heard(text=payload["observation"]["text"], done=payload.get("done", False), reward=payload.get("reward"))
        return StepResult(observation=seen, reward=seen.reward, done=seen.done)

    def _parse_state(self, payload: dict) -> State:
        return State(**payload)


async def client(url: str, server: int) -> None:
    said = Said(message=ACTION)

    async def measure(way: str, count: int, seconds: float) -> side.Rate:
        clients = [Client(base_url=url) for _ in range(count)]
        try:
            for start in range(0, count, 32):
                await asyncio.gather(*(open_one(c) for c in clients[start : start + 32]))
            for spell in (side.WARM_UP_S, seconds):
                rate = await side.rate([lambda c=c: c.step(said) for c in clients], spell, server)
            return rate
        finally:
            for start in range(0, count, 32):
                await asyncio.gather(*(c.close() for c in clients[start : start + 32]))

    async def open_one(one: Client) -> None:
        await one.connect()
        heard = await one.reset()
        assert heard.observation.text == REPLY

    await side.answer_jobs(measure)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        side.serve_asgi(create_app(Fixed, Said, Heard, env_name="fixed", max_concurrent_envs=MOST_SESSIONS))
    else:
        side.run(client(sys.argv[2], int(sys.argv[3])))
