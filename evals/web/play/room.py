"""The room where people play: who is in it, what each plays, and when somebody has gone.

A person is a cookie with a random id and a pseudonym. Everything is bounded: people, games (one a person), and the time
that a game waits for its player.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from agentenv.client.core import Connection, Patience
from agentenv.client.local import LocalTransport
from agentenv.errors import AgentEnvError, EnvFailed, NoCapacity, Unauthorized
from agentenv.protocol import Outcome
from agentenv.registry import EnvSpec
from agentenv.server.sessions import Sessions
from agentenv.trajectory import Trajectory
from evals import people
from evals.store.growing import known_tasks, plays_of
from evals.store.store import Store
from evals.web.play.choices import Chosen, Past, Source, choose, sources
from evals.web.play.game import Game
from evals.web.play.record import Ending, Player, Stored, keep, trajectory

MOST_PEOPLE = 256
IDLE_S = 30 * 60.0
"""After so long without a request of its player a game ends as cancelled."""
PATIENCE = Patience(total_s=5.0)
"""With a server whose sessions are all taken."""


@dataclass(slots=True, kw_only=True)
class Person:
    """Somebody who has come in."""

    pseudonym: str
    seen_at: float
    game: Game | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)


class Room:
    """One for a server. Its games are sessions of that server's own table."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        token: str | None = None,
        store: Callable[[], Store] = Store.open,
        clock: Callable[[], float] = time.monotonic,
        idle_s: float = IDLE_S,
    ) -> None:
        self.sessions, self.clock, self.idle_s = sessions, clock, idle_s
        self.needs_token = token is not None
        self._token = (token or "").encode()
        self._open_store = store
        self._store: Store | None = None
        self._people: OrderedDict[str, Person] = OrderedDict()
        self._connection = Connection(LocalTransport(sessions), patience=PATIENCE)
        self._watches: set[asyncio.Task[None]] = set()

    def come_in(self, pseudonym: str, token: str) -> str:
        """A new person's id. Raises BadPseudonym, and Unauthorized for a wrong token."""
        if self.needs_token and not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            raise Unauthorized("missing or wrong token; it is the one that the server was started with")
        name = people.pseudonym(pseudonym)
        self._make_room()
        key = secrets.token_hex(16)
        self._people[key] = Person(pseudonym=name, seen_at=self.clock())
        return key

    def person(self, key: str | None) -> Person | None:
        """Who has this id; it counts as a sign of life."""
        person = self._people.get(key or "")
        if person is not None and key is not None:
            self._people.move_to_end(key)
            person.seen_at = self.clock()
        return person

    def _make_room(self) -> None:
        """Forget who was seen longest ago among those who play nothing."""
        if len(self._people) < MOST_PEOPLE:
            return
        for key, person in self._people.items():
            if person.game is None or person.game.end is not None:
                del self._people[key]
                return
        raise NoCapacity(f"{MOST_PEOPLE} people are playing; try again later")

    # What may be played.

    def specs(self) -> list[EnvSpec]:
        """The server's environments."""
        return [spec for _, spec in sorted(self.sessions.specs.items())]

    async def sources(self, env: str) -> list[Source]:
        """Where tasks of an env come from; in a thread, since the first use may make thousands of tasks."""
        spec = self.sessions.spec_of(env)
        return await asyncio.to_thread(sources, spec, self._own_options(env))

    def _own_options(self, env: str) -> dict[str, object]:
        return dict(self.sessions.env_options.get(env, {}))

    async def start(self, person: Person, env: str, source: str, task: str | None) -> Game:
        """Another game, in place of one that is over; the one under way when there is one."""
        async with person.starting:
            if person.game is not None and person.game.end is None:
                return person.game
            spec = self.sessions.spec_of(env)
            choices, known = await asyncio.to_thread(self._choose, person.pseudonym, spec, source, task)
            game = await self._begin(person, choices, known)
            person.game = game
            await game.begin()
            self._watch(person, game)
            return game

    def _choose(self, name: str, spec: EnvSpec, source: str, task: str | None) -> tuple[list[Chosen], frozenset[str]]:
        store = self._opened()
        known = known_tasks(store.engine, name)
        past = Past(known=known, plays=lambda suite_hash: plays_of(store.engine, suite_hash))
        return choose(spec, self._own_options(spec.id), source, task or None, past), known

    async def _begin(self, person: Person, choices: list[Chosen], known: frozenset[str]) -> Game:
        """A game of the first choice that works."""
        for chosen in choices[:-1]:
            try:
                return await self._game(person, chosen, known)
            except EnvFailed:
                continue
        try:
            return await self._game(person, choices[-1], known)
        except EnvFailed as exc:  # an episode that broke before it began is one, as for every agent
            await self._keep_broken(person, choices[-1], exc)
            raise

    async def _game(self, person: Person, chosen: Chosen, known: frozenset[str]) -> Game:
        session = await self._connection.create(
            chosen.spec.id,
            chosen.task.id,
            options=chosen.options,
            max_steps=chosen.world.max_steps,
            images=chosen.spec.images,
        )
        if session.task.digest != chosen.task.digest:
            await session.close()
            raise EnvFailed(f"{chosen.task.id} of {chosen.suite.name} is another task under this server's options")
        return Game(
            chosen,
            session,
            pseudonym=person.pseudonym,
            practice=chosen.task.digest in known,
            images=session.image is not None,
            keep=self._keep,
            clock=self.clock,
        )

    async def _keep_broken(self, person: Person, chosen: Chosen, error: AgentEnvError) -> None:
        played = trajectory(
            chosen,
            Player(pseudonym=person.pseudonym, hints=False),
            [],
            Ending(outcome=Outcome.ENV_ERROR, error=error.message),
            max_steps=chosen.world.max_steps,
            images=False,
            time={},
        )
        await self._keep(chosen, Player(pseudonym=person.pseudonym, hints=False), played)

    # Storing.

    def _opened(self) -> Store:
        """The store, opened at its first use: a server whose page nobody plays on makes no database."""
        if self._store is None:
            self._store = self._open_store()
        return self._store

    async def _keep(self, chosen: Chosen, player: Player, played: Trajectory) -> Stored | None:
        # To its end even when the server stops meanwhile.
        return await asyncio.shield(asyncio.to_thread(lambda: keep(self._opened(), chosen, player, played)))

    # People who go.

    def _watch(self, person: Person, game: Game) -> None:
        task = asyncio.get_running_loop().create_task(self._until_gone(person, game))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)

    async def _until_gone(self, person: Person, game: Game) -> None:
        """Renew the session's lease while the player may come back; end the game when they have gone."""
        pause = max(0.02, min(game.session.limits.lease_s / 3, self.idle_s / 4, 60.0))
        try:
            while game.end is None:
                await asyncio.sleep(pause)
                if self.clock() - person.seen_at > self.idle_s:
                    await game.leave("the player has gone")
                else:
                    await game.renew()
        except asyncio.CancelledError:
            await game.lost("the server ended")
            raise
