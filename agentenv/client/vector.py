"""`VectorEnvClient`: many environments as one gymnasium.VectorEnv; each step is one exchange with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from agentenv.client.core import CREATE_TIMEOUT_S, SLACK_S, Connection, RemoteSession, create_call
from agentenv.client.infos import batched
from agentenv.client.portal import portal
from agentenv.client.source import Card, Observation, Source, StepBeforeReset
from agentenv.client.spaces import FreeText
from agentenv.errors import AgentEnvError, BadCall, ClientClosed, EnvFailed
from agentenv.protocol import Action, Outcome
from agentenv.wire import Call, Reply, StepReply

Arrays = np.ndarray[Any, np.dtype[Any]]
Observations = tuple[Observation, ...] | dict[str, tuple[Any, ...]]
"""A text a slot; with images, as gymnasium batches a Dict, a dict of tuples."""


class Slot:
    """One place of the vector: its session, its generator, and what its last step showed."""

    def __init__(self, observation: Observation) -> None:
        self.session: RemoteSession | None = None
        self.rng: np.random.Generator | None = None
        self.episode = -1
        self.over = True
        self.observation = observation
        self.error: AgentEnvError | None = None


class VectorEnvClient(VectorEnv[Observations, tuple[str, ...], Arrays]):
    """`num_envs` sessions. A slot that fails ends with `truncated` and `info["valid"]` False; the others go on.

    `reset(seed=7)` seeds the slots 7, 8, 9 and so on; a list seeds each as it says. Infos are gymnasium's dict of
    arrays with `_name` masks.
    """

    def __init__(
        self,
        env: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        base_url: str | None = None,
        split: str = "train",
        task: str | int | dict[str, Any] | None = None,
        max_steps: int | None = None,
        token: str | None = None,
        images: bool = False,
        transport: str = "websocket",
        **options: Any,
    ) -> None:
        if num_envs < 1:
            raise BadCall(f"num_envs is {num_envs}; it must be at least 1")
        self.source = Source(
            env=env,
            base_url=base_url,
            split=split,
            task=task,
            max_steps=max_steps,
            token=token,
            images=images,
            transport=transport,
            options=options,
        )
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self._setup()

    def _setup(self) -> None:
        self.single_observation_space = self.source.observation_space()
        self.single_action_space = FreeText()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._slots = [Slot(self.source.observation("", None)) for _ in range(self.num_envs)]
        self._portal = portal()
        self._card: Card
        self._connection, self._card = self._portal.run(self.source.connect(self._portal))
        self._finalizer = self._portal.when_forgotten(self, _close, self._connection, self._slots)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode in every slot, or in those of `options["reset_mask"]`."""
        self._connected()
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        chosen = range(self.num_envs) if mask is None else np.flatnonzero(self._mask(mask)).tolist()
        self._seed(seed, chosen)
        tasks = self._tasks(options.get("task"))
        self._portal.run(self._exchange(dict.fromkeys(chosen), tasks))
        infos = {i: self._info(i, None) for i in chosen}
        return self._observations(), batched(infos, self.num_envs)

    def step(self, actions: Sequence[str | Action]) -> tuple[Observations, Arrays, Arrays, Arrays, dict[str, Any]]:
        """Do one action in every slot; what follows an end is the autoreset mode's."""
        self._connected()
        if len(actions) != self.num_envs:
            raise BadCall(f"{len(actions)} actions for {self.num_envs} environments")
        over = [i for i, slot in enumerate(self._slots) if slot.over]
        if any(slot.episode < 0 for slot in self._slots):
            raise StepBeforeReset("call reset() before the first step()")
        if over and self.autoreset_mode is AutoresetMode.DISABLED:
            raise StepBeforeReset(f"environment {over[0]} has ended; reset it with options={{'reset_mask': ...}}")
        work: dict[int, str | Action | None] = {i: None if i in over else a for i, a in enumerate(actions)}
        replies = self._portal.run(self._exchange(work, {}))
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        infos: dict[int, dict[str, Any]] = {}
        ended: list[int] = []
        for i, slot in enumerate(self._slots):
            reply = replies.get(i)
            if reply is not None:
                rewards[i], terminated[i], truncated[i] = reply.reward, reply.terminated, reply.truncated
            elif slot.error is not None:
                truncated[i] = True
            slot.over = bool(terminated[i] or truncated[i])
            if slot.over and self.autoreset_mode is AutoresetMode.SAME_STEP:
                ended.append(i)
                infos[i] = {"final_obs": slot.observation, "final_info": self._info(i, reply)}
            else:
                infos[i] = self._info(i, reply)
        if ended:
            self._portal.run(self._exchange(dict.fromkeys(ended), {}))
            for i in ended:
                infos[i].update(self._info(i, None))
        return self._observations(), rewards, terminated, truncated, batched(infos, self.num_envs)

    def available_actions(self) -> list[list[str] | None]:
        """Of every slot; None where they have no bound, or where no episode runs."""
        self._connected()
        return self._portal.run(self._available())

    async def _available(self) -> list[list[str] | None]:
        async def of(slot: Slot) -> list[str] | None:
            return None if slot.over or slot.session is None else await slot.session.available_actions()

        return list(await asyncio.gather(*map(of, self._slots)))

    def close_extras(self, **kwargs: Any) -> None:
        """End every session; `close()` calls it once."""
        if self._finalizer.detach():
            self._portal.finish(_close(self._connection, self._slots))

    async def _exchange(self, work: dict[int, str | Action | None], tasks: dict[int, Any]) -> dict[int, StepReply]:
        """Send a step for each action and a reset for each None, all in one exchange; the replies of the steps."""
        calls = {i: self._call(i, action, tasks.get(i)) for i, action in work.items()}
        replies = await self._send(calls)
        steps: dict[int, StepReply] = {}
        wrong: BadCall | None = None
        for i, action in work.items():
            slot = self._slots[i]
            slot.error = None
            if action is None:
                slot.episode += 1
            try:
                reply = replies[i]
                if isinstance(reply, AgentEnvError):
                    raise reply
                if action is None:
                    self._begun(i, reply)
                else:
                    assert slot.session is not None
                    steps[i] = slot.session.took_step(reply)
                assert slot.session is not None
                slot.observation = self.source.observation(slot.session.observation, slot.session.image)
            except BadCall as exc:  # told when every other slot has taken its reply
                slot.over, wrong = True, wrong or exc
            except AgentEnvError as exc:
                slot.error, slot.over = exc, True
                if slot.session is not None and (
                    isinstance(replies[i], AgentEnvError) or (action is None and not isinstance(exc, EnvFailed))
                ):
                    slot.session.lost = exc  # out of reach, or an interrupt left it at another position
        if wrong is not None:
            raise wrong
        return steps

    async def _send(self, calls: dict[int, Call | AgentEnvError]) -> dict[int, Reply | AgentEnvError]:
        connection = self._connected()
        out = {i: call for i, call in calls.items() if not isinstance(call, AgentEnvError)}
        answers: dict[int, Reply | AgentEnvError] = {
            i: call for i, call in calls.items() if isinstance(call, AgentEnvError)
        }
        limits = [s.session.limits for s in self._slots if s.session is not None]
        timeout_s = max([max(x.step_s, x.reset_s) + SLACK_S for x in limits], default=CREATE_TIMEOUT_S)
        try:
            answers.update(zip(out, await connection.send(list(out.values()), timeout_s), strict=True))
        except AgentEnvError as exc:
            if isinstance(exc, BadCall) or not limits:
                raise  # no session was ever made: say so instead of failing slot by slot
            answers.update((i, exc) for i in out)
        return answers

    def _call(self, i: int, action: str | Action | None, wanted: Any) -> Call | AgentEnvError:
        slot = self._slots[i]
        session = slot.session
        if action is not None:
            assert session is not None
            try:
                return session.step_call(action)
            except BadCall:
                raise
            except AgentEnvError as exc:
                return exc
        rng = self._rng(slot)
        task = self.source.choose(self._card, rng, wanted)
        if session is not None and session.lost is None:
            return session.reset_call(task)
        source = self.source
        return create_call(source.env, task, options=source.options, max_steps=source.max_steps, images=source.images)

    def _begun(self, i: int, reply: Reply) -> None:
        slot = self._slots[i]
        if slot.session is not None and slot.session.lost is None:
            slot.session.took_reset(reply)
        else:
            slot.session = self._connected().created(self.source.env, reply)
        slot.over = False

    def _seed(self, seed: int | Sequence[int | None] | None, chosen: Sequence[int]) -> None:
        if seed is None:
            return
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
        if len(seeds) != self.num_envs:
            raise BadCall(f"{len(seeds)} seeds for {self.num_envs} environments")
        for i in chosen:
            one = seeds[i]
            if one is not None:
                self._slots[i].rng, _ = seeding.np_random(int(one))
                self._slots[i].episode = -1

    @staticmethod
    def _rng(slot: Slot) -> np.random.Generator:
        if slot.rng is None:
            slot.rng, _ = seeding.np_random(None)
        return slot.rng

    def _mask(self, mask: Any) -> Arrays:
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_:
            raise BadCall(f"reset_mask must be a bool array of length {self.num_envs}")
        return array

    def _tasks(self, wanted: Any) -> dict[int, Any]:
        if isinstance(wanted, (list, tuple)):
            if len(wanted) != self.num_envs:
                raise BadCall(f"{len(wanted)} tasks for {self.num_envs} environments")
            return dict(enumerate(wanted))
        return {} if wanted is None else dict.fromkeys(range(self.num_envs), wanted)

    def _observations(self) -> Observations:
        seen = tuple(slot.observation for slot in self._slots)
        if not self.source.images:
            return seen
        return {name: tuple(one[name] for one in seen) for name in ("text", "image")}  # type: ignore[index]

    def _info(self, i: int, reply: StepReply | None) -> dict[str, Any]:
        slot = self._slots[i]
        session = slot.session
        info: dict[str, Any] = dict(session.info) if session is not None and slot.error is None else {}
        info.update(
            task="" if session is None else session.task.id,
            episode=slot.episode,
            outcome=_outcome(slot),
            success=None if reply is None else reply.success,
            score=None if reply is None else reply.score,
            valid=slot.error is None,
        )
        if slot.error is not None:
            info["error"] = f"{slot.error.code}: {slot.error.message}"
        return info

    def _connected(self) -> Connection:
        if not self._finalizer.alive:
            raise ClientClosed(f"the client of {self.source.env} is closed; make a new one")
        return self._connection

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "num_envs": self.num_envs, "mode": self.autoreset_mode, "spec": self.spec}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.source, self.num_envs = state["source"], state["num_envs"]
        self.autoreset_mode, self.spec = state["mode"], state["spec"]
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.closed = False
        self._setup()


def _outcome(slot: Slot) -> str | None:
    if slot.error is not None:
        return (Outcome.ENV_ERROR if isinstance(slot.error, EnvFailed) else Outcome.INFRA_LOST).value
    if slot.session is None or slot.session.outcome is None:
        return None
    return slot.session.outcome.value


async def _close(connection: Connection, slots: Sequence[Slot]) -> None:
    try:
        await asyncio.gather(*(slot.session.close() for slot in slots if slot.session is not None))
    finally:
        await connection.close()
