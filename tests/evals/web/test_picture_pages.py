"""Pictures on the pages: beside their turn, placed before they are loaded, and reached by their hash alone."""

import re
from dataclasses import replace

import pytest
from easel_env import png
from made_runs import ended, new_run
from sqlalchemy.engine import URL
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from agentenv.pictures import Pictures
from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.store.pictures import folder_of, pictures_in
from evals.store.store import Store
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore
from evals.web.headers import PICTURE_HEADERS

GONE = "ab" * 32


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Two runs of one task with pictures; one of the first run's has no file."""
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("drawn") / "runs.db"))
    with Store.open(url) as store:
        for run, shades in (("s-a-1", (0, 1)), ("s-b-1", (0, 2))):
            store.add_runs([new_run(run, tasks=1, agent=run)])
            keep = pictures_in(store).keep(run)
            names = [keep(png(shade, width=320, height=180)) for shade in shades]
            turns = [Turn(observation=f"o{n}", action=f"a{n}", reward=0.0, image=name) for n, name in enumerate(names)]
            turns.append(Turn(observation="o2", action="a2", reward=1.0, image=GONE if run == "s-a-1" else None))
            [slot] = store.open_slots(run)
            episode = ended(Outcome.SUCCESS, slot.task, turns=turns)
            store.record(run, slot.slot, slot.tries, replace(episode, final_image=keep(png(3, width=64, height=48))))
            store.finish(run)
    return url


@pytest.fixture(scope="module")
def site(drawn):
    with ReadOnlyStore.open(drawn) as store:
        yield TestClient(make_app(store))


def images_of(page):
    return [dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall(r"<img [^>]*>", page)]


def test_each_turn_has_its_picture_with_its_size_loaded_when_it_is_looked_at(site, drawn):
    images = images_of(site.get("/episode/1").text)
    assert [(i["width"], i["height"], i["loading"]) for i in images] == [
        ("320", "180", "lazy"),
        ("320", "180", "lazy"),
        ("64", "48", "lazy"),
    ]
    assert [i["alt"] for i in images] == [
        "what the environment showed at turn 0",
        "what the environment showed at turn 1",
        "what the environment showed at the end",
    ]
    pictures = Pictures(folder_of(drawn))
    for image, content in zip(images, (png(0, width=320, height=180), png(1, width=320, height=180)), strict=False):
        assert site.get(image["src"]).content == content
        assert pictures.path(image["src"][-68:-4]).read_bytes() == content


def test_a_picture_whose_file_is_gone_is_a_sentence_and_no_broken_element(site):
    page = site.get("/episode/1").text
    assert f"A picture was recorded here ({GONE[:12]}), and its file is not beside this database." in page
    assert f"{GONE}.png" not in page


def test_an_episode_without_pictures_looks_as_it_did(site, pages):
    page = pages.get("/episode/1").text
    assert "<h4>picture</h4>" not in page
    assert 'class="seen"' in page
    assert 'class="seen drawn"' in site.get("/episode/1").text


def test_two_episodes_side_by_side_have_theirs(site):
    page = site.get("/compare/task?a=s-a-1&b=s-b-1&env=coin&task=coin/test/0").text
    told = [image["alt"].removeprefix("what the environment showed ") for image in images_of(page)]
    assert told == [f"{side} at {when}" for when in ("turn 0", "turn 1", "the end") for side in "AB"]
    assert GONE[:12] in page


def test_a_picture_is_kept_by_browsers_for_ever_and_run_by_none(site):
    reply = site.get(images_of(site.get("/episode/1").text)[0]["src"])
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    assert reply.headers.get_list("cache-control") == ["private, max-age=31536000, immutable"]
    assert {name: reply.headers[name] for name in PICTURE_HEADERS} == PICTURE_HEADERS
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-security-policy"].startswith("default-src 'none'; img-src 'self';")


@pytest.mark.parametrize(
    "name",
    [
        GONE,
        GONE[:-1],
        GONE.upper(),
        "..%2f..%2fruns.db",
        "%2e%2e",
        "runs",
        "x" * 3000,
        f"{GONE}%00",
        f"{GONE[:62]}%0a1",
    ],
)
def test_only_a_hash_leads_to_a_file(site, name):
    reply = site.get(f"/picture/{name}.png")
    assert reply.status_code == 404
    assert reply.headers["cache-control"] == "no-cache"


def test_a_file_that_is_no_picture_is_not_served(site, drawn):
    path = Pictures(folder_of(drawn)).path("cd" * 32)
    path.parent.mkdir(exist_ok=True)
    path.write_text("<script>window.stolen = 1</script>")
    assert site.get(f"/picture/{path.name}").status_code == 404


def test_pictures_are_right_under_a_path(drawn):
    with ReadOnlyStore.open(drawn) as store:
        under = TestClient(Starlette(routes=[Mount("/eval", make_app(store))]))
        [image, *_] = images_of(under.get("/eval/episode/1").text)
        assert image["src"].startswith("/eval/picture/")
        assert under.get(image["src"]).status_code == 200
