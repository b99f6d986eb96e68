"""WebShop's own files, in its formats."""

import json

import pytest
from shop_play import do, solution

from agentenv.errors import UnknownOption
from agentenv.protocol import UNPROVEN
from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.files import build, objects
from envservers.shop.webshop.spec import SPEC


def item(asin, **given):
    return {
        "asin": asin,
        "name": f"Brook Cotton Shirt {asin}",
        "query": "Men's Shirts ",
        "category": "fashion",
        "product_category": "Clothing › Men › Shirts",
        "pricing": "$19.99",
        "full_description": "A shirt.",
        "small_description": ["100% cotton", "Button closure"],
        "images": ["https://example.org/a.jpg"],
        "customization_options": {
            "Color": [{"value": " Navy/White ", "image": None}, {"value": "Red"}],
            "Size": [{"value": "Small"}, {"value": "Large [Tall]"}],
            "Style": None,
        },
        **given,
    }


ITEMS = [
    item("B000000003"),
    item("B000000001", pricing="$1,010.00$1,020.00", customization_options=None, small_description="one text"),
    item("B000000002", pricing=None),
    item("B000000003", name="a second one of the same id"),
    item("nan"),
    item("B00000000TOOLONG"),
]
ATTRIBUTES = {
    "B000000003": {
        "attributes": ["button closure", "cotton"],
        "instruction": "Find me cotton shirts",
        "instruction_attributes": ["cotton"],
    },
    "B000000001": {"attributes": ["slim fit"], "instruction": None, "instruction_attributes": None},
}
PEOPLE = {
    "B000000003": [
        {
            "asin": "B000000003",
            "instruction": "i want a shirt with buttons in large.",
            "instruction_attributes": ["button closure"],
            "instruction_options": ["large [tall]"],
        },
        {"asin": "B000000003", "instruction": "?", "instruction_attributes": [], "instruction_options": []},
        {
            "asin": "B000000003",
            "instruction": "a green one",
            "instruction_attributes": ["cotton"],
            "instruction_options": {"color": "green"},
        },
    ],
    "B000000001": [
        {
            "asin": "B000000001",
            "instruction": "slim fit shirt",
            "instruction_attributes": ["slim fit"],
            "instruction_options": [],
        }
    ],
}


@pytest.fixture
def files(tmp_path):
    """Options that name the files."""
    contents = {"items": ITEMS, "attributes": ATTRIBUTES, "goals": PEOPLE}
    for name, content in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return {name: str(tmp_path / f"{name}.json") for name in contents}


def test_goals_by_people_are_played_over_the_products_of_the_file(files):
    tasks = SPEC.task_set(files)
    assert tasks.splits() == ("test",)
    assert tasks.count("test") == 3
    by_text = {t.payload["instruction"].split(",")[0]: t for t in (tasks.get("test", n) for n in range(3))}
    buttons = by_text["i want a shirt with buttons in large"]
    assert buttons.payload["instruction"].endswith(
        f", and price lower than {buttons.payload['price_upper']:.2f} dollars"
    )
    assert buttons.payload["price_upper"] in (30.0, 40.0, 50.0, 60.0)
    [*_, (_, result)] = solution(WebShop(**files), buttons)
    assert result.success
    assert result.info["options"] == {"size": "large [tall]"}
    dear = by_text["slim fit shirt"]
    assert dear.payload["price_upper"] is None  # above every limit
    assert by_text["a green one"].category == UNPROVEN


def test_pages_show_the_products_of_the_file(files):
    env = WebShop(**files)
    env.reset(SPEC.task_set(files).get("test", 0))
    results = do(env, "search[cotton shirt]").observation
    assert "B000000002 [SEP] Brook Cotton Shirt B000000002 [SEP] $100.0" in results
    assert "$1010.0 to $1020.0" in results
    assert "a second one" not in results
    page = do(env, "click[b000000003]").observation
    assert "color [SEP] navy | white [SEP] red [SEP] size [SEP] small [SEP] large [tall] [SEP] Brook" in page
    assert "Rating: N.A." in page
    assert do(env, "click[Large [Tall]]").observation.startswith("You have clicked large [tall].")
    assert "No reviews found" in do(env, "click[Reviews]").observation


def test_without_goals_by_people_each_combination_of_options_is_one(files):
    del files["goals"]
    tasks = SPEC.task_set(files)
    texts = {
        tasks.get("test", n).payload["instruction"].rpartition(", and price")[0] for n in range(tasks.count("test"))
    }
    assert "Find me cotton shirts with color: navy | white, and size: small" in texts
    assert len(texts) == tasks.count("test") == 4
    for number in range(4):
        assert solution(WebShop(**files), tasks.get("test", number))[-1][1].success


def test_many_goals_are_split_as_in_webshop(monkeypatch):
    monkeypatch.setattr(build, "TEST", 2)
    monkeypatch.setattr(build, "DEV", 3)
    goals = [{"number": n} for n in range(9)]
    assert {split: len(some) for split, some in build._splits(goals).items()} == {"train": 4, "dev": 3, "test": 2}
    assert build._splits(goals)["test"] == goals[:2]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("items", '{"a": 1}', "not a JSON array"),
        ("items", '[{"name": "no id"}]', "item 0 is no product"),
        ("items", '[{"asin": "B1"', "items="),
        ("items", "[7]", "item 0 is no product"),
        ("goals", "[]", "not an object"),
        ("attributes", "{", "attributes="),
        ("goals", "{}", "no goal is of a product"),
    ],
)
def test_a_file_of_another_format_is_refused_by_name(files, name, content, complaint):
    with open(files[name], "w", encoding="utf-8") as file:
        file.write(content)
    with pytest.raises(UnknownOption, match=complaint):
        SPEC.task_set(files).count("test")


@pytest.mark.parametrize("options", [{"items": "a"}, {"goals": "a"}, {"attributes": "a"}])
def test_options_that_need_another_say_which(options):
    with pytest.raises(UnknownOption, match="items"):
        SPEC.task_set(options)


def test_a_missing_file_is_named(files, tmp_path):
    with pytest.raises(UnknownOption, match=r"none\.json"):
        SPEC.task_set({**files, "items": str(tmp_path / "none.json")}).splits()


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000])
def test_an_array_is_read_element_by_element_whatever_the_chunks(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(objects, "CHUNK", chunk)
    path = tmp_path / "array.json"
    path.write_text('\n[ {"a": "x]y"},\n{"b": [1, 2]} , 12, "é" ]\n', encoding="utf-8")
    assert list(objects.objects(path)) == [{"a": "x]y"}, {"b": [1, 2]}, 12, "é"]
    path.write_text("[]", encoding="utf-8")
    assert list(objects.objects(path)) == []
