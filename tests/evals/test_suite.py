"""What a suite locks: a file with a mistake fails at the mistake, and equal hashes mean equal measurement."""

import pytest

from agentenv.registry import get_spec
from evals.plan import world_of
from evals.suite import BadSuite, load, parse, suite_names

GOOD = {"name": "s", "envs": [{"env": "maze", "tasks": 3}]}


def test_the_suites_of_the_package_load_by_name():
    assert {"demo", "smoke"} <= set(suite_names())
    for name in suite_names():
        suite = load(name)
        assert (suite.name, suite.source) == (name, name)
        assert suite.title


def test_the_demo_is_thirty_test_tasks_of_three_games():
    demo = load("demo")
    assert [(e.env, e.split, e.tasks) for e in demo.envs] == [
        ("textcraft", "test", 30), ("wordle", "test", 30), ("maze", "test", 30),
    ]  # fmt: skip
    assert demo.attempts == 1


def test_a_path_loads_a_suite_and_is_remembered(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nenvs:\n- {env: maze, options: {size: 4}, max_steps: 9}\n")
    suite = load(str(file))
    assert suite.source == str(file)
    assert suite.envs[0].options == {"size": 4}
    assert suite.envs[0].tasks == "all"


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(BadSuite, match="no suite 'dmeo'; did you mean 'demo'"):
        load("dmeo")


def test_a_file_that_is_not_there_or_no_yaml_is_named(tmp_path):
    with pytest.raises(BadSuite, match=r"none\.yaml"):
        load(str(tmp_path / "none.yaml"))
    (tmp_path / "odd.yaml").write_text("name: [")
    with pytest.raises(BadSuite, match=r"odd\.yaml"):
        load(str(tmp_path / "odd.yaml"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"atempts": 2}, "s.yaml: atempts is not a setting; did you mean 'attempts'?"),
        ({"envs": [{"env": "maze", "splitt": "x"}]}, "s.yaml: envs[0].splitt is not a setting; did you mean 'split'?"),
        ({"envs": [{"env": "maze"}, {"split": "test"}]}, "s.yaml: envs[1]: env is missing"),
        ({"envs": []}, "envs must be a list with at least one env"),
        ({"envs": {"env": "maze"}}, "envs must be a list"),
        ({"envs": ["maze"]}, "envs[0]: must be a mapping of settings, not str"),
        ({"envs": [{"env": "maze", "tasks": 0}]}, "envs[0].tasks=0: a number from 1, or `all`"),
        ({"envs": [{"env": "maze", "tasks": True}]}, "envs[0].tasks=True"),
        ({"envs": [{"env": "maze", "max_steps": 0}]}, "envs[0].max_steps=0: at least 1"),
        ({"envs": [{"env": "maze", "options": [1]}]}, "envs[0]: options=[1]: must be dict"),
        ({"envs": [{"env": "maze"}, {"env": "maze", "split": "dev"}]}, "maze is there twice; give each a label"),
        ({"seed": "one"}, "seed='one': must be int"),
        ({"attempts": 0}, "attempts=0: at least 1"),
        ({"source": "x"}, "source is not a setting"),
        ({"metric": "wins"}, "metric='wins': one of success, mean_score"),
        ({"name": "n" * 101}, "name has 101 characters; 1 to 100"),
        ({"envs": [{"env": "maze", "tasks": []}]}, "envs[0].tasks=[]: a number from 1, or `all`, or a list"),
        ({"envs": [{"env": "maze", "tasks": [1, -2]}]}, "envs[0].tasks=[1, -2]"),
        ({"envs": [{"env": "maze", "tasks": [1, 1]}]}, "envs[0].tasks: 1 is there twice"),
        ({"envs": [{"env": "maze", "categories": "big"}]}, "envs[0].categories='big': a list of names"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(change, message):
    with pytest.raises(BadSuite) as caught:
        parse({**GOOD, **change}, where="s.yaml")
    assert message in caught.value.message


def test_a_suite_without_a_name_or_that_is_a_list_is_refused():
    with pytest.raises(BadSuite, match="name is missing"):
        parse({"envs": GOOD["envs"]}, where="s.yaml")
    with pytest.raises(BadSuite, match="not list"):
        parse([GOOD], where="s.yaml")


def test_an_env_may_come_twice_under_labels():
    suite = parse({**GOOD, "envs": [{"env": "maze"}, {"env": "maze", "label": "maze4"}]}, where="s.yaml")
    assert [e.name for e in suite.envs] == ["maze", "maze4"]


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"name": "t"},
        {"envs": [{"env": "maze", "tasks": 4}]},
        {"envs": [{"env": "maze", "tasks": 3, "split": "dev"}]},
        {"envs": [{"env": "maze", "tasks": 3, "max_steps": 5}]},
        {"envs": [{"env": "maze", "tasks": 3, "options": {"size": 4}}]},
    ],
)
def test_the_hash_changes_with_whatever_is_measured(change):
    assert parse({**GOOD, **change}, where="s").hash != parse(GOOD, where="s").hash


@pytest.mark.parametrize("change", [{"attempts": 4}, {"title": "another"}])
def test_the_hash_ignores_how_often_and_what_it_is_titled(change):
    assert parse({**GOOD, **change}, where="s").hash == parse(GOOD, where="s").hash


def test_a_suite_survives_its_json():
    for name in suite_names():
        suite = load(name)
        assert parse(suite.to_json(), where=name, source=name) == suite


def test_the_hash_of_a_suite_that_uses_nothing_new_stays_what_it_was():
    """Else every run that is stored would be of another suite."""
    assert load("smoke").hash == "7a6f46c2e10a3ca5390a2bee47fa22ff57374ee974b630b0a9f22c0ea4738e45"
    assert load("demo").hash == "5ca7cb6c93ee85e0ca03333be34e4185a851aa33c53d3e2e02452cf15899c907"


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "mean_score"},
        {"envs": [{"env": "maze", "tasks": 3, "categories": ["5"]}]},
        {"envs": [{"env": "maze", "tasks": [1, 2, 3]}]},
        {"envs": [{"env": "maze", "tasks": [3, 2, 1]}]},
    ],
)
def test_a_metric_categories_and_lists_of_tasks_are_in_the_hash_and_survive_json(change):
    plain = {"name": "s", "envs": [{"env": "maze", "tasks": 3}]}
    changed = parse({**plain, **change}, where="s")
    assert changed.hash != parse(plain, where="s").hash
    assert parse(changed.to_json(), where="s") == changed


def test_settings_of_the_agent_are_its_own_matter():
    plain = {"name": "s", "envs": [{"env": "maze"}]}
    suite = parse({**plain, "agent": {"temperature": 0.5}}, where="s")
    assert suite.hash == parse(plain, where="s").hash
    assert parse(suite.to_json(), where="s") == suite


@pytest.mark.parametrize("name", suite_names())
def test_every_suite_of_the_package_names_envs_and_splits_that_there_are(name):
    for entry in load(name).envs:
        spec = get_spec(entry.env)
        assert entry.split in spec.task_set(entry.options).splits()
        assert world_of(spec, entry).tasks > 0
