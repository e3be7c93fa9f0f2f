"""How does a definition introduce itself?"""

import pytest

from indexer.signature import LONGEST, signature


def head(text: str, name: str, start: int = 1) -> str:
    lines = text.split("\n")
    return signature(dict(enumerate(lines, start=1)), start, len(lines), name)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("def send(self, request, **kwargs):\n    pass", "send", "def send(self, request, **kwargs)"),
        ("class Child(Base):\n    x = 1", "Child", "class Child(Base)"),
        ("def f(host): # noqa\n    pass", "f", "def f(host)"),
        (
            "func (c *Context) Get(key any) (any, bool) {\n}",
            "Get",
            "func (c *Context) Get(key any) (any, bool)",
        ),
        ("type jsonApi struct{}", "jsonApi", "type jsonApi struct{}"),
        ("type Engine struct {\n\tx int\n}", "Engine", "type Engine struct"),
        ("pub fn new<B>(body: B) -> Self\nwhere\n    B: X,\n{", "new", "pub fn new<B>(body: B) -> Self"),
        ("res.send = function send(body) {\n}", "send", "res.send = function send(body)"),
        ("def run(a), do: a", "run", "def run(a)"),
        ("defmodule Acme.Queue do\n  x\nend", "Queue", "defmodule Acme.Queue"),
        ("static int\ncount(void)\n{\n}", "count", "static int count(void)"),
        ("LIMIT = 3", "LIMIT", "LIMIT = 3"),
        ("TABLE = {\n  1: 2,\n}", "TABLE", "TABLE"),
        ('def f(a="(", b=1):\n    pass', "f", 'def f(a="(", b=1)'),
    ],
)
def test_the_head_of_a_definition(text: str, name: str, expected: str) -> None:
    assert head(text, name) == expected


def test_a_head_over_several_lines_becomes_one() -> None:
    text = "def request(\n    self,\n    method,\n    url=None,\n):\n    pass"
    assert head(text, "request") == "def request(self, method, url=None)"


def test_annotations_and_comments_are_no_part_of_it() -> None:
    text = '@Deprecated(\n  "Use Buffer",\n)\n// why\n@Override\npublic void run(int Buffer) {\n}'
    assert head(text, "run") == "public void run(int Buffer)"


def test_a_name_in_the_text_of_an_annotation_is_not_the_definition() -> None:
    assert head('@Deprecated("Buffer")\ntypealias Buffer = Other', "Buffer") == "typealias Buffer = Other"


def test_a_long_one_is_cut() -> None:
    text = "def f(" + ", ".join(f"argument_{at}" for at in range(40)) + "):"
    shown = head(text, "f")
    assert len(shown) <= LONGEST
    assert shown.endswith("…")


def test_an_unfinished_one_says_so() -> None:
    assert head("def f(\n" + "    a,\n" * 30, "f").endswith("…")


def test_without_text_there_is_the_name() -> None:
    assert signature({}, 5, 9, "lost") == "lost"
