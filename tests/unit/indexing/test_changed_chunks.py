from __future__ import annotations

import random
from statistics import mean

from graphrag_dual.chunking import split
from graphrag_dual.loading import make_document
from graphrag_dual.model import Chunk
from graphrag_dual.models.testing import HashEmbedder

COUNT = HashEmbedder().count_tokens


def chunks(paragraphs: list[str]) -> list[Chunk]:
    text = "\n\n".join(filter(None, paragraphs))
    return split(make_document(text, workspace="w", uri="a.md"), max_tokens=100, count_tokens=COUNT)


def words(chance: random.Random, low: int, high: int) -> str:
    return " ".join(f"w{chance.randrange(5000)}" for _ in range(chance.randint(low, high)))


def changed(seed: int) -> tuple[int, int]:
    """How many chunks are new, and how many there are, after one of eighty paragraphs was rewritten, cut or emptied."""
    chance = random.Random(seed)
    paragraphs = [f"{words(chance, 5, 60)}." for _ in range(80)]
    known = {one.id for one in chunks(paragraphs)}
    at = chance.randrange(80)
    after = chunks([*paragraphs[:at], words(chance, 0, 80), *paragraphs[at + 1 :]])
    return sum(one.id not in known for one in after), len(after)


def test_one_edit_in_thirty_chunks_makes_a_few_new_ones() -> None:
    edits = [changed(seed) for seed in range(60)]

    assert mean(total for _, total in edits) > 30
    assert mean(new for new, _ in edits) < 4
    # Cutting falls into step again soon, wherever the edit was.
    assert max(new for new, _ in edits) < 15
