"""Who refers to whom?"""

from indexer.chunk import cut
from indexer.languages.registry import language_of
from indexer.resolve import MANY, Place, Project, name_weight, places
from indexer.symbols import Symbols


def symbols(path: str, text: str) -> Symbols:
    return cut(text, language_of(path, text.encode())).symbols


def project(**files: str) -> Project:
    made = Project()
    for path, text in files.items():
        name = path.replace("__", "/") + ".py"
        made.put(name, symbols(name, text))
    return made


def pairs(made: Project, path: str) -> set[tuple[str, str, str]]:
    return {
        (edge.source.name, f"{edge.target.path}:{edge.target.name}", edge.kind) for edge in made.edges(path)
    }


def test_the_same_file_comes_first() -> None:
    made = project(a="def work():\n    pass\n\ndef go():\n    work()\n", b="def work():\n    pass\n")
    assert pairs(made, "a.py") == {("go", "a.py:work", "call")}


def test_then_the_same_folder() -> None:
    made = project(
        x__a="def go():\n    work_hard()\n",
        x__b="def work_hard():\n    pass\n",
        y__c="def work_hard():\n    pass\n",
    )
    assert pairs(made, "x/a.py") == {("go", "x/b.py:work_hard", "call")}


def test_then_what_is_imported() -> None:
    made = project(
        x__a="from y.tools import work_hard\n\ndef go():\n    work_hard()\n",
        y__tools="def work_hard():\n    pass\n",
        z__other="def work_hard():\n    pass\n",
    )
    assert pairs(made, "x/a.py") == {
        ("go", "y/tools.py:work_hard", "call"),
        ("", "y/tools.py:work_hard", "import"),
    }


def test_a_package_is_imported_by_the_name_of_its_folder() -> None:
    made = project(
        x__a="import tools\n\ndef go():\n    tools.work_hard()\n", z__other="def work_hard():\n    pass\n"
    )
    path = "y/tools/__init__.py"
    made.put(path, symbols(path, "def work_hard():\n    pass\n"))
    assert ("go", "y/tools/__init__.py:work_hard", "call") in pairs(made, "x/a.py")


def test_then_the_only_one_in_the_project() -> None:
    made = project(x__a="def go():\n    work_hard()\n", y__b="def work_hard():\n    pass\n")
    assert pairs(made, "x/a.py") == {("go", "y/b.py:work_hard", "call")}


def test_several_far_away_are_none() -> None:
    text = "def work_hard():\n    pass\n"
    made = project(x__a="def go():\n    work_hard()\n", y__b=text, z__c=text)
    assert pairs(made, "x/a.py") == set()


def test_what_is_inside_a_function_is_known_in_its_file_only() -> None:
    made = project(
        a="def outer():\n    def helper_one():\n        pass\n    helper_one()\n",
        b="def go():\n    helper_one()\n",
    )
    assert pairs(made, "a.py") == {("outer", "a.py:outer.helper_one", "call")}
    assert pairs(made, "b.py") == set()


def test_recursion_is_no_edge() -> None:
    assert pairs(project(a="def f():\n    f()\n"), "a.py") == set()


def test_inheritance_counts_more_than_a_mention() -> None:
    made = project(a="class Base:\n    pass\n\nclass Child(Base):\n    pass\n\ndef f(x: Base):\n    pass\n")
    weights = {edge.kind: edge.weight for edge in made.edges("a.py")}
    assert weights["inherit"] > weights["use"]


def test_telling_names_count_more() -> None:
    assert name_weight("parse_config") == name_weight("parseConfig") > name_weight("parse") > name_weight("f")
    assert name_weight("CONSTANT") == 1.0
    assert name_weight("__init__") == 1.0


def test_private_names_count_little_outside_of_their_file() -> None:
    made = project(
        a="from b import open_door, _shut_door\n\ndef go():\n    open_door()\n    _shut_door()\n",
        b="def open_door():\n    pass\n\ndef _shut_door():\n    open_door()\n\ndef both():\n"
        "    _shut_door()\n",
    )
    far = {edge.target.name: edge.weight for edge in made.edges("a.py") if edge.kind == "call"}
    assert far["_shut_door"] < far["open_door"] / 2
    near = {edge.target.name: edge.weight for edge in made.edges("b.py")}
    assert near["_shut_door"] == near["open_door"]


def test_names_of_many_count_little() -> None:
    rare = project(a="def work_hard():\n    pass\n\ndef go():\n    work_hard()\n")
    often = project(
        a="def work_hard():\n    pass\n\ndef go():\n    work_hard()\n",
        **{f"other{at}": "def work_hard():\n    pass\n" for at in range(MANY)},
    )
    assert often.edges("a.py")[0].weight < rare.edges("a.py")[0].weight / 2


def test_more_calls_count_more_but_less_than_each() -> None:
    made = project(a="def one():\n    pass\n\ndef once():\n    one()\n\ndef often():\n" + "    one()\n" * 9)
    weights = {edge.source.name: edge.weight for edge in made.edges("a.py")}
    assert weights["often"] == 3 * weights["once"]


def test_reopened_places_are_no_targets() -> None:
    made = Project()
    text = "struct Cache;\nimpl Cache {\n    fn new() -> Cache {\n    }\n}\nfn f(cache: Cache) {}\n"
    made.put("a.rs", symbols("a.rs", text))
    assert {edge.target for edge in made.edges("a.rs")} == {Place("a.rs", "Cache")}


def test_a_changed_file_names_those_who_must_be_looked_at_again() -> None:
    made = project(
        a="def go():\n    work_hard()\n", b="def rest():\n    pass\n", c="def other():\n    rest()\n"
    )
    assert pairs(made, "a.py") == set()
    again = made.put("b.py", symbols("b.py", "def rest():\n    pass\n\ndef work_hard():\n    pass\n"))
    assert again == {"a.py", "b.py"}
    assert pairs(made, "a.py") == {("go", "b.py:work_hard", "call")}


def test_moved_lines_change_nothing_for_others() -> None:
    made = project(a="def go():\n    work_hard()\n", b="def work_hard():\n    pass\n")
    before = made.edges("a.py")
    assert made.put("b.py", symbols("b.py", "# new\n\n\ndef work_hard():\n    return 1\n")) == {"b.py"}
    assert made.edges("a.py") == before


def test_a_dropped_file_is_forgotten() -> None:
    made = project(a="def go():\n    work_hard()\n", b="def work_hard():\n    pass\n")
    assert made.drop("b.py") == {"a.py"}
    assert pairs(made, "a.py") == set()
    assert made.drop("b.py") == frozenset()
    made.drop("a.py")
    assert (made.files, made.definitions, made.users) == ({}, {}, {})
    assert made.edges("a.py") == []


def test_file_by_file_is_the_same_as_at_once() -> None:
    files = {
        "a.py": "from b import Base\n\nclass Child(Base):\n    def run_all(self):\n        helper_one()\n",
        "b.py": "class Base:\n    def run_all(self):\n        pass\n\ndef helper_one():\n    pass\n",
        "c/d.py": "from b import helper_one\n\ndef main():\n    helper_one()\n",
    }
    first, second = Project(), Project()
    for path, text in files.items():
        first.put(path, symbols(path, text))
    for path in reversed(files):
        second.put(path, symbols(path, "def helper_one():\n    main()\n"))
    for path in reversed(files):
        second.put(path, symbols(path, files[path]))
    assert set(first.all_edges()) == set(second.all_edges())


def test_places_tell_overloads_apart() -> None:
    text = "class A {\n  void f(int a) {}\n  void f(String a) {}\n}\n"
    assert [place for place, _ in places("A.java", symbols("A.java", text))] == [
        Place("A.java", "A"),
        Place("A.java", "A.f"),
        Place("A.java", "A.f", 1),
    ]


def test_modules_are_found_by_their_last_name() -> None:
    made = Project()
    made.put("queue.ex", symbols("queue.ex", "defmodule Acme.Queue do\n  def push(q), do: q\nend\n"))
    made.put("job.ex", symbols("job.ex", "defmodule Job do\n  def run(q), do: Queue.push(q)\nend\n"))
    assert {edge.target.name for edge in made.edges("job.ex")} == {"Acme.Queue", "Acme.Queue.push"}
