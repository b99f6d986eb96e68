"""The page's routes: coming in, choosing, playing, the end, and what is stored of it."""

from __future__ import annotations

import asyncio
import dataclasses

import puzzle_env
import pytest
from playing import HOST, House, in_house

from agentenv.registry import register
from agentenv.trajectory import Trajectory


@pytest.fixture(autouse=True)
def puzzle():
    register(puzzle_env.SPEC)


def stored(house: House) -> list[Trajectory]:
    """Everything that was stored, oldest run first."""
    return [t for run in reversed(house.store.runs()) for t in house.store.trajectories(run.id)]


def test_an_episode_is_played_and_stored_as_one_of_a_human(kept):
    async def act(house):
        otter = await house.person()
        game = await otter.start("1")
        assert (game["task"], game["step"], game["max_steps"]) == ("puzzle/test/1", 0, 6)
        game = await otter.step("say even")
        assert (game["step"], game["end"]) == (1, None)
        house.clock.now += 8.5
        end = (await otter.step("say odd"))["end"]
        assert (end["outcome"], end["success"], end["reward"], end["score"]) == ("success", True, 1.0, 7.0)
        assert end["rule"] == "The word of the task is said."
        assert end["why"] == [{"name": "checks", "text": "passed: word"}]
        [run] = house.store.runs()
        assert (run.agent, run.planned, run.valid, run.finished_at is not None) == ("human", 1, 1, True)
        assert end["stored"]["run"] == run.id
        [episode] = stored(house)
        assert episode.agent == {
            "name": "human", "version": "1", "hints": False, "pseudonym": "otter", "images": True,
        }  # fmt: skip
        assert [turn.action for turn in episode.turns] == ["say even", "say odd"]
        assert episode.turns[0].observation == f"Which word? {puzzle_env.HOSTILE}"
        assert episode.final_observation == "Right."
        assert episode.env_options == {"mode": "plain"}  # what the machine would decide is settled, by what works
        assert episode.time["agent_s"] == 8.5

    in_house(kept, act)


def test_texts_of_the_environment_travel_with_their_codes_made_visible(kept):
    async def act(house):
        otter = await house.person()
        shown = (await otter.start())["observation"]
        assert "\x1b" not in shown
        assert "[31mred" in shown
        assert "<b>bold</b>" in shown  # text, which the page sets as text

    in_house(kept, act)


def test_a_double_click_does_an_action_once(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        first, second = await asyncio.gather(otter.step("say x", 0), otter.step("say x", 0))
        assert first["step"] == second["step"] == 1
        assert (await otter.step("say x", 0))["step"] == 1  # also later
        assert await otter.refused("step", game=first["id"], step=0, action="say y") == (409, "step_conflict")
        assert await otter.refused("step", game=first["id"], step=5, action="say y") == (409, "step_conflict")
        await otter.step("say odd", 1)
        assert (await otter.step("say odd", 1))["end"]["outcome"] == "success"
        assert await otter.refused("step", game=first["id"], step=2, action="say odd") == (409, "episode_over")
        [episode] = stored(house)
        assert episode.steps == 2

    in_house(kept, act)


def test_a_reload_finds_the_game_as_it_was(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        await otter.step("say x")
        before = otter.game
        state = await otter.get("state")
        assert state["name"] == "otter"
        assert state["game"]["id"] == before["id"]
        assert [turn["action"] for turn in state["game"]["turns"]] == ["say x"]
        assert (await otter.start("7"))["id"] == before["id"]  # a second start goes on with the first

    in_house(kept, act)


def test_giving_up_counts_and_asks_the_environment_for_its_score(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        await otter.step("say x")
        end = (await otter.post("give-up", game=otter.game["id"]))["game"]["end"]
        assert (end["outcome"], end["valid"], end["success"], end["score"]) == ("agent_error", True, False, 1.0)
        [episode] = stored(house)
        assert (episode.outcome, episode.reward, episode.error) == ("agent_error", 0.25, "gave up")
        assert house.store.runs()[0].valid == 1

    in_house(kept, act)


def test_who_walks_away_is_cancelled_and_outside_of_the_score(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        await otter.step("say x")
        house.clock.now += 61.0
        await asyncio.wait(house.room._watches, timeout=10)
        [episode] = stored(house)
        assert (episode.outcome, episode.steps, episode.success) == ("cancelled", 1, False)
        [run] = house.store.runs()
        assert (run.valid, run.lost, run.tries) == (0, 0, 1)

    in_house(kept, act, idle_s=0.2)


def test_a_game_under_way_is_stored_when_the_server_ends(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        await otter.step("say x")
        await asyncio.sleep(0.01)
        for watch in house.room._watches:
            watch.cancel()
        await asyncio.wait(house.room._watches)
        [episode] = stored(house)
        assert (episode.outcome, episode.error, episode.steps) == ("cancelled", "the server ended", 1)

    in_house(kept, act)


def test_a_broken_environment_is_an_invalid_episode_not_a_lost_one(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        end = (await otter.step("break"))["end"]
        assert (end["outcome"], end["valid"]) == ("env_error", False)
        assert await otter.refused("start", env="puzzle", source="split:test", task="13") == (500, "env_failed")
        assert [(e.task.index, e.outcome, e.steps) for e in stored(house)] == [
            (1, "env_error", 0),
            (13, "env_error", 0),
        ]

    in_house(kept, act)


def test_the_step_limit_is_that_of_the_environment(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        for _ in range(6):
            await otter.step("say x")
        assert otter.game["end"]["outcome"] == "step_limit"

    in_house(kept, act)


def test_actions_are_shown_where_the_observation_lists_them_or_with_hints(kept):
    async def act(house):
        otter = await house.person()
        assert (await otter.start())["actions"] is None
        listed = (await otter.step("list"))["actions"]
        assert [action["send"] for action in listed] == ["say odd", "say even"]
        assert (await otter.step("say x"))["actions"] is None
        told = await otter.post("hints", game=otter.game["id"])
        assert (told["bounded"], told["game"]["hints"], len(told["game"]["actions"])) == (True, True, 2)
        await otter.step("say odd")
        [episode] = stored(house)
        assert episode.agent["hints"] is True
        both = ["say odd", "say even"]
        assert [turn.available_actions for turn in episode.turns] == [None, both, both]
        assert house.store.runs()[0].agent == "human with hints"

    in_house(kept, act)


def test_hints_of_actions_without_a_bound_are_none_and_are_not_noted(kept):
    spec = dataclasses.replace(puzzle_env.SPEC, entry="puzzle_env:Unbounded")

    async def act(house):
        otter = await house.person()
        await otter.start()
        told = await otter.post("hints", game=otter.game["id"])
        assert (told["bounded"], told["game"]["hints"], told["game"]["actions"]) == (False, False, None)

    in_house(kept, act, spec=spec)


def test_a_task_counts_once_for_a_person_and_is_practice_from_then_on(kept):
    async def act(house):
        otter = await house.person()
        await otter.start("1")
        await otter.step("say odd")
        assert (await otter.start("1"))["practice"] is True
        end = (await otter.step("say odd"))["end"]
        assert (end["stored"], end["problem"]) == (None, None)
        assert len(stored(house)) == 1
        assert (await (await house.person("heron")).start("1"))["practice"] is False

    in_house(kept, act)


def test_a_person_has_one_run_a_suite_which_grows(kept):
    async def act(house):
        otter, heron = await house.person(), await house.person("heron")
        for task in ("1", "3", "5"):
            await otter.start(task)
            await otter.step("say odd")
        await heron.start("1")
        await heron.step("say odd")
        runs = {run.agent_settings["pseudonym"]: run for run in house.store.runs()}
        assert {name: (run.planned, run.valid) for name, run in runs.items()} == {"otter": (3, 3), "heron": (1, 1)}
        assert (runs["otter"].first_attempt, runs["heron"].first_attempt) == (0, 1)
        assert house.store.unfinished() == []

    in_house(kept, act)


def test_random_tasks_are_ones_that_the_person_does_not_know(kept):
    async def act(house):
        otter = await house.person()
        seen = []
        while len(seen) < 8:
            game = await otter.start("")
            seen.append(game["task"])
            await otter.post("give-up", game=game["id"])
        assert len(set(seen)) == len(seen)

    in_house(kept, act)


def test_the_picture_of_the_moment_is_shown_and_no_other(kept):
    async def act(house):
        otter = await house.person()
        game = await otter.start()
        reply = await otter.client.get(f"/play/image/{game['id']}/0")
        assert (reply.headers["content-type"], reply.content) == ("image/png", puzzle_env.PNG)
        await otter.step("say x")
        assert (await otter.client.get(f"/play/image/{game['id']}/0")).status_code == 404
        assert (await otter.client.get(f"/play/image/{game['id']}/1")).status_code == 200

    in_house(kept, act)


def test_looking_is_open_and_playing_needs_the_token(kept):
    async def act(house):
        stranger = house.new_browser()
        page = await stranger.client.get("/play")
        assert page.status_code == 200
        assert "Token of this server" in page.text
        assert (await stranger.client.get("/")).status_code == 200
        assert await stranger.refused("enter", name="otter", token="wrong") == (401, "unauthorized")
        assert await stranger.refused("enter", name="otter") == (401, "unauthorized")
        assert await stranger.refused("start", env="puzzle", source="split:test") == (401, "unauthorized")
        assert (await stranger.client.get("/play/tasks/puzzle")).status_code == 401
        assert (await stranger.get("state"))["name"] is None
        await stranger.post("enter", name="otter", token="secret")
        await stranger.start()

    in_house(kept, act, token="secret")


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(kept):
    async def act(house):
        browser = house.new_browser()
        reply = await browser.client.post("/play/enter", json={"name": "otter"})
        cookie = reply.headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/play"))
        assert "otter" not in cookie

    in_house(kept, act)


def test_other_pages_cannot_play(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        body = {"game": otter.game["id"], "step": 0, "action": "say x"}
        foreign = await otter.client.post("/play/step", json=body, headers={"origin": "http://127.0.0.1:9999"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_origin")
        form = await otter.client.post("/play/step", content=b"{}", headers={"content-type": "text/plain"})
        assert form.status_code == 415
        own = await otter.client.post("/play/step", json=body, headers={"origin": HOST})
        assert own.status_code == 200
        heron = await house.person("heron")
        assert (await heron.refused("step", **body))[0] == 404

    in_house(kept, act)


@pytest.mark.parametrize("name", ["", " ", "x" * 33, "<b>", "a b", "-x", "ä"])
def test_pseudonyms_are_short_and_plain(kept, name):
    async def act(house):
        assert await house.new_browser().refused("enter", name=name) == (422, "bad_pseudonym")

    in_house(kept, act)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"env": "nowhere", "source": "split:test"}, 404),
        ({"env": "puzzle", "source": "split:dev"}, 404),
        ({"env": "puzzle", "source": "nothing"}, 422),
        ({"env": "puzzle", "source": "suite:demo:puzzle"}, 422),
        ({"env": "puzzle", "source": "split:test", "task": "99"}, 404),
        ({"env": "puzzle", "source": "split:test", "task": "puzzle/train/1"}, 404),
        ({"env": "puzzle"}, 422),
        ({"env": "puzzle", "source": "split:test", "more": 1}, 422),
    ],
)
def test_a_choice_that_there_is_not_is_refused(kept, body, status):
    async def act(house):
        otter = await house.person()
        assert (await otter.refused("start", **body))[0] == status

    in_house(kept, act)


def test_an_action_that_is_too_long_costs_no_step(kept):
    async def act(house):
        otter = await house.person()
        await otter.start()
        refused = await otter.refused("step", game=otter.game["id"], step=0, action="x" * 70_000)
        assert refused[0] == 422
        assert (await otter.get("state"))["game"]["step"] == 0

    in_house(kept, act)
