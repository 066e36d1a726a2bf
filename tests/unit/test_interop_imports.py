from __future__ import annotations

import subprocess
import sys

import pytest

_OPTIONAL = ("langchain_core", "llama_index", "neo4j_graphrag")
# A finder that stands before all others and knows nothing of the libraries named: as if they were not installed.
_HIDE = """
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def run(code: str, *, hidden: tuple[str, ...] = ()) -> str:
    """What a new interpreter prints."""
    program = _HIDE.format(names=hidden) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_the_rooms_of_other_tools_open_without_their_libraries() -> None:
    code = f"import graphrag_dual.interop; print([one for one in {_OPTIONAL} if one in sys.modules])"
    assert run(code, hidden=_OPTIONAL) == "[]"


def test_the_retriever_of_neo4j_graphrag_needs_none_of_the_others() -> None:
    code = "from graphrag_dual.interop import DualRetriever; print(DualRetriever.__name__)"
    assert run(code, hidden=("langchain_core", "llama_index")) == "DualRetriever"


@pytest.mark.parametrize(("room", "library"), [("langchain", "langchain_core"), ("llamaindex", "llama_index")])
def test_a_library_that_is_not_installed_is_an_import_error_that_says_how(room: str, library: str) -> None:
    code = f"""
try:
    import graphrag_dual.interop.{room}
except ModuleNotFoundError as error:
    print(error.name.partition(".")[0], "|", error)
"""
    name, _, said = run(code, hidden=(library,)).partition(" | ")
    assert name == library
    assert said.endswith(f"install the extra `{room}`: pip install '.[{room}]' in a checkout")
