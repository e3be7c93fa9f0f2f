"""What is called so, who refers to it, what does it refer to, and what matters most?"""

import networkx as nx
import numpy as np
import pytest

from indexer.chunk import cut
from indexer.importance import DAMPING, important, pagerank
from indexer.languages.registry import language_of
from indexer.project_map import CHARACTERS_PER_TOKEN, LONGEST_LINE, ProjectMap, draw_map
from indexer.symbol_graph import Link, Mention, SymbolGraph
from indexer.symbols import Symbols

FILES = {
    "shop/cart.py": """\
from shop.prices import price_of

class Basket:
    def add_item(self, item):
        self.items.append(item)

    def total_price(self):
        return sum(price_of(item) for item in self.items)

class GiftBasket(Basket):
    def total_price(self):
        return super().total_price() + wrap_up(self)

def wrap_up(basket):
    return 1
""",
    "shop/prices.py": """\
TAX_RATE = 0.2

def price_of(item):
    return round_price(item.price * (1 + TAX_RATE))

def round_price(value):
    return round(value, 2)

def _unused_price():
    pass
""",
    "shop/orders.py": """\
from shop.cart import Basket

def place_order(items):
    basket = Basket()
    for item in items:
        basket.add_item(item)
    return basket.total_price()
""",
    "tests/test_cart.py": """\
from shop.cart import Basket

def test_total():
    assert Basket().total_price() == 0

def test_add():
    Basket().add_item(1)
""",
}


def symbols(path: str, text: str) -> Symbols:
    return cut(text, language_of(path, text.encode())).symbols


def graph(files: dict[str, str]) -> SymbolGraph:
    made = SymbolGraph()
    for path, text in files.items():
        language = language_of(path, text.encode())
        made.put(path, language.name if language else "text", symbols(path, text))
    return made


def names(made: SymbolGraph, name: str, kind: str | None = None) -> list[tuple[int, str]]:
    return [(match.rank, match.symbol.place.name) for match in made.find(name, kind)]


def callers(made: SymbolGraph, name: str, path: str | None = None) -> list[tuple[str, str, str, bool]]:
    found = made.callers([match.symbol for match in made.named(name, path)])
    return [(one.source.path, one.source.place.name, one.kind, isinstance(one, Link)) for one in found]


def callees(made: SymbolGraph, name: str, path: str | None = None) -> set[tuple[str, str, str]]:
    found = made.callees([match.symbol for match in made.named(name, path)])
    return {(one.source.place.name, one.target.place.name, one.kind) for one in found}


def draw(files: dict[str, str], token_budget: int = 1000, focus: str = "") -> ProjectMap:
    def read(path: str) -> dict[int, str]:
        return dict(enumerate(files[path].split("\n"), start=1))

    return draw_map(graph(files), read, token_budget, focus)


# Names


def test_the_exact_name_then_other_case_then_beginning_then_within() -> None:
    made = graph(
        {"a.py": "def price(): pass\ndef Price(): pass\ndef price_of(): pass\ndef the_price(): pass\n"}
    )
    assert names(made, "price") == [(0, "price"), (1, "Price"), (2, "price_of"), (3, "the_price")]


@pytest.mark.parametrize(
    "name", ["Basket.total_price", "cart.Basket.total_price", "shop/Basket::total_price"]
)
def test_a_scope_narrows_it(name: str) -> None:
    assert names(graph(FILES), name) == [(0, "Basket.total_price")]


@pytest.mark.parametrize("name", ["Acme::Thing", "Acme::Thing#run", "Thing->run", "thing.run"])
def test_scopes_as_people_write_them(name: str) -> None:
    made = graph({"lib/x.rb": "module Acme\n  class Thing\n    def run\n    end\n  end\nend\n"})
    assert len(names(made, name)) == 1


def test_a_scope_in_other_case_is_a_lesser_match() -> None:
    assert names(graph(FILES), "basket.add_item") == [(1, "Basket.add_item")]


def test_an_operator_is_a_name() -> None:
    made = graph({"a.hs": "module A where\n\n(.:) :: Int -> Int\n(.:) x = x\n"})
    assert all("." in name for _, name in names(made, ".:"))


def test_a_kind_narrows_it() -> None:
    assert names(graph(FILES), "basket", "class") == [(1, "Basket"), (3, "GiftBasket")]
    assert graph(FILES).kinds() == {"class", "method", "function", "constant"}


def test_code_before_tests_and_what_is_referred_to_before_what_is_not() -> None:
    made = graph(
        {
            "tests/test_a.py": "def work_hard(): pass\n",
            "a.py": "def work_hard(): pass\n",
            "b/b.py": "def work_hard(): pass\n\ndef go(): work_hard()\n",
        }
    )
    found = made.find("work_hard")
    assert [match.symbol.path for match in found] == ["b/b.py", "a.py", "tests/test_a.py"]
    assert [match.references for match in found] == [1, 0, 0]


def test_references_count_definitions_not_calls() -> None:
    made = graph({"a.py": "def one(): pass\n\ndef two():\n    one()\n    one()\n\none()\n"})
    [match] = made.find("one")
    assert match.references == 2


def test_nothing_is_called_so() -> None:
    assert graph(FILES).find("nowhere") == []
    assert SymbolGraph().find("anything") == []


# References


def test_callers_with_kind_and_the_tests_last() -> None:
    assert callers(graph(FILES), "Basket") == [
        ("shop/cart.py", "GiftBasket", "inherit", True),
        ("shop/orders.py", "", "import", True),
        ("shop/orders.py", "place_order", "call", True),
        ("tests/test_cart.py", "", "import", True),
        ("tests/test_cart.py", "test_total", "call", True),
        ("tests/test_cart.py", "test_add", "call", True),
    ]


def test_a_name_that_is_near_nowhere_is_a_mention() -> None:
    text = "def work_hard(): pass\n"
    made = graph({"x/a.py": text, "y/b.py": text, "z/c.py": "def go():\n    work_hard()\n"})
    assert callers(made, "work_hard") == [("z/c.py", "go", "call", False)]
    [mention] = made.callers([match.symbol for match in made.named("work_hard", "x/a.py")])
    assert isinstance(mention, Mention)


def test_a_file_tells_definitions_of_one_name_apart() -> None:
    files = {
        "x/a.py": "def work_hard(): pass\n\ndef first(): work_hard()\n",
        "y/b.py": "def work_hard(): pass\n\ndef second(): work_hard()\n",
    }
    made = graph(files)
    assert {name for _, name, _, _ in callers(made, "work_hard")} == {"first", "second"}
    assert callers(made, "work_hard", "y/b.py") == [("y/b.py", "second", "call", True)]
    assert callers(made, "work_hard", "z/c.py") == []


def test_callees_of_a_class_are_those_of_its_members() -> None:
    found = callees(graph(FILES), "Basket")
    assert ("Basket.total_price", "price_of", "call") in found
    assert all(source.startswith("Basket") for source, _, _ in found)


def test_what_is_inside_refers_outside_only() -> None:
    text = "class A:\n  def one(self):\n    self.two()\n  def two(self):\n    go()\n\ndef go(): pass\n"
    made = graph({"a.py": text})
    assert callees(made, "A") == {("A.two", "go", "call")}
    assert callees(made, "A.one") == {("A.one", "A.two", "call")}


def test_the_line_of_a_reference_is_not_in_what_is_inside() -> None:
    path, text = "a.py", "def go(): pass\n\nclass A:\n    def one(self):\n        go()\n\n    x = go()\n"
    made = graph({path: text})
    lines = {
        one.source.place.name: made.first_line(one, symbols(path, text))
        for one in made.callers([match.symbol for match in made.named("go")])
    }
    assert lines == {"A.one": 5, "A": 7}


# Changes


def test_a_file_that_changes_changes_its_references() -> None:
    made = graph(FILES)
    made.put("shop/orders.py", "python", symbols("shop/orders.py", "def place_order(): pass\n"))
    assert "shop/orders.py" not in {path for path, *_ in callers(made, "Basket")}


def test_a_file_that_goes_takes_its_names_along() -> None:
    made = graph(FILES)
    assert made.find("price_of")
    made.drop("shop/prices.py")
    assert made.find("price_of") == []
    assert callees(made, "total_price") == {
        ("GiftBasket.total_price", "wrap_up", "call"),
        ("GiftBasket.total_price", "Basket.total_price", "call"),
    }
    made.drop("nowhere.py")


def test_file_by_file_is_the_same_as_at_once() -> None:
    made = SymbolGraph()
    for path in reversed(FILES):
        made.put(path, "python", symbols(path, "def price_of(): Basket()\n"))
        made.find("x")
    for path, text in FILES.items():
        made.put(path, "python", symbols(path, text))
    assert set(made.links()) == set(graph(FILES).links())


# Importance


def test_pagerank_agrees_with_networkx() -> None:
    rng = np.random.default_rng(3)
    size, edges = 30, 90
    source, target = rng.integers(0, size, edges).tolist(), rng.integers(0, size, edges).tolist()
    weight = rng.uniform(1, 3, edges).tolist()  # from 1 on, so that nobody leaves for want of weight
    seeds = rng.uniform(0.1, 1, size)
    oracle = nx.MultiDiGraph()
    oracle.add_nodes_from(range(size))
    oracle.add_weighted_edges_from(zip(source, target, weight, strict=True))
    personal = dict(enumerate((seeds / seeds.sum()).tolist()))
    expected = nx.pagerank(oracle, DAMPING, personal, tol=1e-12, max_iter=1000, dangling=personal)
    got = pagerank(source, target, weight, seeds)
    assert got == pytest.approx([expected[at] for at in range(size)], abs=1e-5)


def test_pagerank_without_edges_is_where_it_starts() -> None:
    assert pagerank([], [], [], np.array([1.0, 3.0])).tolist() == [0.25, 0.75]
    assert pagerank([], [], [], np.array([])).tolist() == []


def test_weak_ways_lead_nowhere() -> None:
    strong = pagerank([0], [1], [1.0], np.ones(3))
    weak = pagerank([0], [1], [0.1], np.ones(3))
    assert strong[1] > weak[1] > weak[2]


def test_tests_are_worth_little_but_show_what_is_used() -> None:
    found = important(graph(FILES))
    worth = {one.place.name: value for one, value in zip(found.symbols, found.worth.tolist(), strict=True)}
    assert worth["Basket"] > 10 * worth["test_total"]
    without = important(graph({path: text for path, text in FILES.items() if "test" not in path}))
    before = {
        one.place.name: value for one, value in zip(without.symbols, without.worth.tolist(), strict=True)
    }
    assert worth["Basket"] / worth["price_of"] > before["Basket"] / before["price_of"]


# The map


def test_a_map_shows_files_and_nested_signatures_in_the_order_of_the_file() -> None:
    drawn = draw(FILES)
    blocks = dict(block.split("\n", 1) for block in drawn.text.split("\n\n"))
    assert blocks["shop/cart.py"].split("\n") == [
        "  3: class Basket",
        "    4: def add_item(self, item)",
        "    7: def total_price(self)",
        "  10: class GiftBasket(Basket)",
        "    11: def total_price(self)",
        "  14: def wrap_up(basket)",
    ]
    assert next(iter(blocks)) == "shop/cart.py"


def test_a_map_says_how_much_it_shows() -> None:
    drawn = draw(FILES, 30)
    assert drawn.total_files == 4
    assert drawn.total_definitions == 13
    assert drawn.definitions == sum(line.startswith(" ") for line in drawn.text.split("\n"))
    assert len(drawn.paths) == sum(line.endswith(".py") for line in drawn.text.split("\n"))


@pytest.mark.parametrize("budget", [1, 10, 25, 50, 100, 1000])
def test_a_map_keeps_to_its_budget(budget: int) -> None:
    drawn = draw(FILES, budget)
    assert len(drawn.text) <= budget * CHARACTERS_PER_TOKEN
    assert drawn.tokens <= budget


def test_a_small_map_is_of_what_matters() -> None:
    assert "class Basket" in draw(FILES, 25).text
    assert "_unused_price" not in draw(FILES, 60).text


def test_a_map_is_the_same_in_whatever_order_files_came() -> None:
    assert draw(dict(reversed(FILES.items()))) == draw(FILES)


def test_a_focus_on_words_files_and_folders() -> None:
    assert "orders.py" not in draw(FILES, 25).text
    for focus in ("placing an order", "orders", "shop/orders.py", "`orders.py`"):
        drawn = draw(FILES, 25, focus)
        assert drawn.text.startswith("shop/orders.py"), focus
        assert drawn.matches > 0
    assert draw(FILES, 25, "shop").matches > 8


def test_a_focus_on_tests_shows_tests() -> None:
    assert "def test_" not in draw(FILES, 60, "basket").text
    assert "def test_" in draw(FILES, 60, "tests of the basket").text


def test_a_focus_that_names_nothing_changes_nothing() -> None:
    drawn = draw(FILES, 100, "zebra")
    assert drawn.matches == 0
    assert drawn.text == draw(FILES, 100).text


def test_private_things_come_later() -> None:
    text = "package p\n\nfunc Open() { inner() }\n\nfunc inner() { Open() }\n"
    assert draw({"p.go": text}, 8).text == "p.go\n  3: func Open()"


def test_a_map_of_nothing_is_empty() -> None:
    drawn = draw({})
    assert (drawn.text, drawn.tokens, drawn.paths, drawn.total_files) == ("", 0, (), 0)
    assert draw({"a.py": "x\n"}).text == ""


def test_functions_inside_functions_are_not_shown() -> None:
    text = "def outer_one():\n    def inner_one():\n        pass\n    inner_one()\n    inner_one()\n"
    assert draw({"a.py": text}).text == "a.py\n  1: def outer_one()"


def test_what_is_around_everything_is_not_shown() -> None:
    text = "module Acme\n  class Thing\n    def run\n    end\n  end\n\n  def self.go\n  end\nend\n"
    lines = draw({"a.rb": text}).text.split("\n")
    assert "  2: class Thing" in lines
    assert lines.index("    3: def run") == lines.index("  2: class Thing") + 1
    assert "    7: def self.go" in lines


def test_overloads_come_later_than_other_things() -> None:
    text = (
        "class A {\n"
        + "".join(f"  void go(int a{at}) {{ go(); }}\n" for at in range(9))
        + "  void stop() {}\n}\n"
    )
    shown = draw({"A.java": text}, 25).text
    assert "void stop()" in shown
    assert shown.count("void go(") < 4


def test_long_signatures_are_cut() -> None:
    text = "def f(" + ", ".join(f"argument_{at}" for at in range(40)) + "): pass\n"
    assert len(draw({"a.py": text}).text.split("\n")[1]) <= LONGEST_LINE + len("  1: ")
