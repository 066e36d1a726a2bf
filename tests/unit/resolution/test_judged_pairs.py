from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from graphrag_dual.ids import normalise_name
from graphrag_dual.resolution.aliases import defined_aliases
from graphrag_dual.resolution.merging import MentionEvidence, NameEvidence, identify

LIST = Path(__file__).with_name("judged_pairs.tsv")


class Pair(NamedTuple):
    verdict: str
    one: str
    other: str
    kind: str
    one_type: str
    other_type: str
    context: str


def pairs() -> list[Pair]:
    with LIST.open(encoding="utf-8", newline="") as file:
        lines = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t")
        return [Pair(*line) for line in lines][1:]


def evidence_of(pair: Pair) -> Iterator[NameEvidence]:
    """The two names as a workspace of one or two documents that holds nothing else."""
    text = f"{pair.one} ({pair.other})" if pair.context == "defined" else ""
    aliases = defined_aliases(text, [pair.one, pair.other])
    for number, (name, kind) in enumerate([(pair.one, pair.one_type), (pair.other, pair.other_type)]):
        normal = normalise_name(name)
        long = tuple(long for short, long in aliases if short == normal)
        document = f"d{number if pair.context == '' else 0}"
        yield NameEvidence(normal, (name,), (MentionEvidence(f"c{number}", document, kind, "", long),))


def merged(pair: Pair) -> bool:
    return len(identify(list(evidence_of(pair)))) == 1


def test_the_list_holds_a_hundred_pairs_of_each_verdict() -> None:
    judged = pairs()
    assert [sum(pair.verdict == verdict for pair in judged) for verdict in ("merge", "keep")] == [100, 100]
    assert len({(pair.one, pair.other) for pair in judged}) == 200
    assert all(normalise_name(pair.one) != normalise_name(pair.other) for pair in judged)


def test_merges_on_the_judged_list_are_precise_and_find_most() -> None:
    found = [pair for pair in pairs() if merged(pair)]
    right = [pair for pair in found if pair.verdict == "merge"]
    precision, recall = len(right) / len(found), len(right) / 100
    print(f"\nprecision {precision:.3f}, recall {recall:.2f}")
    for pair in pairs():
        if (pair in found) != (pair.verdict == "merge"):
            print("not found:" if pair.verdict == "merge" else "wrong:", pair.kind, pair.one, "|", pair.other)
    assert precision >= 0.98
    assert recall >= 0.85
