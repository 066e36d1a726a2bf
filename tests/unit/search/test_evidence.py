from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.model import SearchHit
from graphrag_dual.search.evidence import pack


def words(text: str) -> int:
    return len(text.split())


def hit(doc_id: str, content: str) -> SearchHit:
    return SearchHit(doc_id, content, "local_chunk", 0.1, ("local(rank:1)",))


def packed(*contents: str, max_tokens: int) -> list[str]:
    hits = [hit(str(at), content) for at, content in enumerate(contents)]
    return [one.content for one in pack(hits, max_tokens=max_tokens, count_tokens=words)]


def test_the_budget_is_filled_in_order() -> None:
    assert packed("a b", "c d", "e f", max_tokens=4) == ["a b", "c d"]


def test_a_hit_too_large_for_the_rest_is_passed_over() -> None:
    assert packed("a b", "c d e f", "g", max_tokens=4) == ["a b", "g"]


def test_one_copy_per_text_and_no_blank() -> None:
    assert packed("a b", " a\nb ", "   ", "--", "c", max_tokens=100) == ["a b", "c"]


def test_no_budget_packs_nothing() -> None:
    assert packed("a", max_tokens=0) == []


@given(st.lists(st.text("ab \n", max_size=12)), st.integers(0, 20))
def test_the_budget_holds_and_order_is_kept(contents: list[str], budget: int) -> None:
    hits = [hit(str(at), content) for at, content in enumerate(contents)]
    chosen = pack(hits, max_tokens=budget, count_tokens=words)
    assert sum(words(one.content) for one in chosen) <= budget
    assert [int(one.doc_id) for one in chosen] == sorted(int(one.doc_id) for one in chosen)
