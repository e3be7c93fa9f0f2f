"""Symbols of indexed projects: found, followed, mapped, and as the files are now."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from indexer.symbol_graph import Link
from memory_mcp.engine import symbols as module
from memory_mcp.engine.engine import Engine
from memory_mcp.engine.symbols import KEPT_PROJECTS, References
from retrieval.errors import InvalidInput, ProjectNotFound
from tests.unit.indexer.test_symbol_graph import FILES


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path / "shop_project", FILES)


@pytest.fixture
def project(engine: Engine, shop: Path) -> str:
    return engine.projects.index(str(shop)).project


def rows(found: References) -> list[tuple[str, str, int, str]]:
    return [(one.link.source.place.name, one.link.kind, one.line, one.text) for one in found.references]


def test_a_definition_with_its_signature_and_references(engine: Engine, project: str) -> None:
    found = engine.symbols.find("Basket")
    assert found.total == 2
    best = found.symbols[0]
    assert (best.project, best.symbol.path, best.signature) == (project, "shop/cart.py", "class Basket")
    assert (best.symbol.definition.start_line, best.symbol.definition.end_line) == (3, 8)
    assert best.references == 6
    assert found.symbols[1].signature == "class GiftBasket(Basket)"


def test_a_limit_and_a_kind(engine: Engine, project: str) -> None:
    found = engine.symbols.find("total", 1)
    assert (len(found.symbols), found.total) == (1, 3)
    assert {one.symbol.definition.kind for one in engine.symbols.find("total", kind="function").symbols} == {
        "function"
    }


def test_an_unknown_kind_names_the_known_ones(engine: Engine, project: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"Invalid kind: .*'gadget'\. Known are class, constant, function, method"
    ):
        engine.symbols.find("Basket", kind="gadget")


def test_without_projects_nothing_is_found(engine: Engine) -> None:
    assert engine.symbols.find("Basket", kind="class").symbols == ()
    assert engine.symbols.callers("Basket") == References((), (), 0)


def test_callers_have_the_line_that_refers(engine: Engine, project: str) -> None:
    found = engine.symbols.callers("Basket.total_price")
    assert ("place_order", "call", 7, "return basket.total_price()") in rows(found)
    assert found.total == len(found.references) == 3
    assert [one.symbol.place.name for one in found.definitions] == ["Basket.total_price"]


def test_callees_have_signatures(engine: Engine, project: str) -> None:
    found = engine.symbols.callees("price_of")
    assert rows(found) == [("price_of", "call", 4, "return round_price(item.price * (1 + TAX_RATE))")]
    assert [one.signature for one in found.references] == ["def round_price(value)"]


def test_an_ambiguous_name_answers_for_each(engine: Engine, project: str) -> None:
    found = engine.symbols.callees("total_price")
    assert len(found.definitions) == 2
    targets = {
        (one.link.source.place.name, one.link.target.place.name)
        for one in found.references
        if isinstance(one.link, Link)
    }
    assert ("Basket.total_price", "price_of") in targets
    assert ("GiftBasket.total_price", "wrap_up") in targets


def test_a_file_narrows_it(engine: Engine, project: str) -> None:
    assert engine.symbols.callers("Basket", path="shop/cart.py").total == 6
    assert engine.symbols.callers("Basket", path="elsewhere.py") == References((), (), 0)


def test_a_limit_of_references(engine: Engine, project: str) -> None:
    found = engine.symbols.callers("Basket", 2)
    assert (len(found.references), found.total) == (2, 6)


def test_a_map(engine: Engine, project: str) -> None:
    drawn = engine.symbols.map(project)
    assert drawn.text.startswith("shop/cart.py\n  3: class Basket\n    4: def add_item(self, item)\n")
    assert engine.symbols.map(project) == drawn
    assert engine.symbols.map(project, 100, "place order").text.startswith("shop/orders.py")


# As the files are now


def test_an_edited_file_is_read_again_before_the_answer(engine: Engine, shop: Path, project: str) -> None:
    assert engine.symbols.find("round_price").symbols[0].symbol.definition.start_line == 6
    path = shop / "shop/prices.py"
    path.write_text("# new\n# lines\n" + path.read_text())
    [found] = engine.symbols.find("round_price").symbols
    assert (found.symbol.definition.start_line, found.signature) == (8, "def round_price(value)")
    assert {line for _, _, line, _ in rows(engine.symbols.callers("round_price"))} == {6}


def test_a_file_that_is_gone_is_forgotten(engine: Engine, shop: Path, project: str) -> None:
    assert engine.symbols.find("place_order").total == 1
    (shop / "shop/orders.py").unlink()
    assert engine.symbols.find("place_order").total == 0
    assert "shop/orders.py" not in engine.symbols.map(project).text


def test_a_folder_that_is_not_there_keeps_its_code(engine: Engine, shop: Path, project: str) -> None:
    shop.rename(shop.with_name("moved"))
    assert engine.symbols.find("place_order").total == 1


def test_a_new_index_is_seen(engine: Engine, shop: Path, project: str) -> None:
    assert engine.symbols.find("refund").total == 0
    write(shop, {"shop/refunds.py": "from shop.cart import Basket\n\ndef refund_all():\n    Basket()\n"})
    engine.projects.index(str(shop))
    assert engine.symbols.find("refund").total == 1
    assert "refund_all" in {name for name, *_ in rows(engine.symbols.callers("Basket"))}


def test_only_changed_files_are_taken_in(
    engine: Engine, shop: Path, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.symbols.find("x")
    read: list[bytes] = []
    from_note = module.from_note
    monkeypatch.setattr(module, "from_note", lambda note: read.append(note) or from_note(note))
    engine.symbols.find("x")
    assert read == []
    write(shop, {"shop/refunds.py": "def refund_all(): pass\n"})
    engine.projects.index(str(shop))
    engine.symbols.find("x")
    assert len(read) == 1


def test_a_deleted_project_is_gone(engine: Engine, project: str) -> None:
    assert engine.symbols.find("Basket").total == 2
    engine.projects.delete(project)
    assert engine.symbols.find("Basket").total == 0
    with pytest.raises(ProjectNotFound):
        engine.symbols.map(project)


def test_after_a_restart_it_is_as_before(reopen: Callable[..., Engine], shop: Path) -> None:
    first = reopen()
    project = first.projects.index(str(shop)).project
    drawn, found = first.symbols.map(project), first.symbols.callers("Basket")
    again = reopen()
    assert (again.symbols.map(project), again.symbols.callers("Basket")) == (drawn, found)


# Several projects


def test_many_projects_are_asked_and_few_are_kept(engine: Engine, tmp_path: Path) -> None:
    keys = []
    for at in range(KEPT_PROJECTS + 2):
        root = write(tmp_path / f"project{at}", {"a.py": "def work_hard(): pass\n\ndef go(): work_hard()\n"})
        keys.append(engine.projects.index(str(root)).project)
    assert [one.project for one in engine.symbols.find("work_hard").symbols] == keys
    assert {one.project for one in engine.symbols.callers("work_hard").references} == set(keys)
    assert engine.symbols.callers("work_hard", project=keys[0]).total == 1
    assert len(engine.symbols._kept) == KEPT_PROJECTS


def test_an_exact_name_in_one_project_beats_another_case_elsewhere(engine: Engine, tmp_path: Path) -> None:
    for name in ("Worker", "worker"):
        root = write(tmp_path / f"of_{name}", {"a.py": f"def {name}(): pass\n\ndef go(): {name}()\n"})
        engine.projects.index(str(root))
    assert engine.symbols.callers("Worker").total == 1
    assert engine.symbols.callers("WORKER").total == 2


def test_many_may_ask_at_once(engine: Engine, project: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: engine.symbols.map(project), range(16)))
        found = list(threads.map(lambda _: engine.symbols.callers("Basket"), range(16)))
    assert len(set(drawn)) == len(set(found)) == 1


# What is refused


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda symbols: symbols.find(" "), "name"),
        (lambda symbols: symbols.find("a\0"), "name"),
        (lambda symbols: symbols.find("a", 0), "limit"),
        (lambda symbols: symbols.find("a", 51), "limit"),
        (lambda symbols: symbols.callers(""), "name"),
        (lambda symbols: symbols.callers("x" * 1_001), "name"),
        (lambda symbols: symbols.callees("a", 201), "limit"),
        (lambda symbols: symbols.callees("a", path=" "), "file_path"),
        (lambda symbols: symbols.map("p", 99), "token_budget"),
        (lambda symbols: symbols.map("p", 32_001), "token_budget"),
        (lambda symbols: symbols.map("p", focus=""), "focus"),
    ],
)
def test_a_wrong_value_is_named(engine: Engine, ask: Callable[[Any], Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"Invalid {field}: "):
        ask(engine.symbols)


@pytest.mark.parametrize("method", ["find", "callers", "callees"])
def test_an_unknown_project_is_named(engine: Engine, method: str) -> None:
    with pytest.raises(ProjectNotFound, match="Project not found: nowhere"):
        getattr(engine.symbols, method)("a", project="nowhere")
    with pytest.raises(ProjectNotFound, match="Project not found: nowhere"):
        engine.symbols.map("nowhere")
