"""Rank chunks by their nearness to what a question names: personalised PageRank over a bounded neighbourhood.

Question -> its nearest facts -> their entities (seeds, rarer ones weigh more) -> two bounded hops -> personalised
PageRank -> chunks.  After HippoRAG (Gutierrez et al. 2024, section 2.3) and HippoRAG 2 (2025, section 3): seeds weighted
by 1 / number of chunks that mention them, passage nodes seeded with a small share of their dense similarity, damping 0.5.
The walk runs in this process: the database's own PageRank costs a projection for each question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Neighbourhood", "personalised_pagerank", "seed_weights"]

_DAMPING = 0.5
_ITERATIONS = 30
_CHUNK_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The surroundings of the seeds: weighted edges between entities, and mentions (entity id, chunk id)."""

    edges: Sequence[tuple[str, str, float]]
    mentions: Sequence[tuple[str, str]]
    seed_mentions: Mapping[str, int]


def seed_weights(facts: Sequence[tuple[float, Sequence[str]]], mentions: Mapping[str, int]) -> dict[str, float]:
    """Weight of each seed entity: the mean score of its facts over the number of chunks that mention it.

    ``facts`` are (score, entity ids), ``mentions`` chunk counts by entity id.
    """
    scores: dict[str, list[float]] = {}
    for score, entity_ids in facts:
        for entity_id in dict.fromkeys(entity_ids):
            scores.setdefault(entity_id, []).append(score)
    return {
        entity_id: sum(values) / len(values) / max(1, mentions.get(entity_id, 1))
        for entity_id, values in scores.items()
    }


def personalised_pagerank(
    around: Neighbourhood, seeds: Mapping[str, float], dense: Mapping[str, float]
) -> dict[str, float]:
    """Score of every entity and chunk of the neighbourhood by power iteration (damping 0.5).

    ``dense`` maps chunk ids to similarities in 0..1, from which chunks get a small share of the restarts.  Undirected;
    parallel edges count once, at their greater weight.  Empty when nothing is seeded.
    """
    one, other, weights = _ends(around)
    names = sorted({*one, *other, *seeds})
    number = {name: i for i, name in enumerate(names)}
    restart = _restart(names, number, seeds, dense)
    if not names or restart.sum() == 0:
        return {}
    ends = np.array([[number[name] for name in one], [number[name] for name in other]], dtype=np.intp)
    scores = _iterate(*_merged(ends, np.array(weights), len(names)), restart / restart.sum())
    return dict(zip(names, scores.tolist(), strict=True))


def _ends(around: Neighbourhood) -> tuple[list[str], list[str], list[float]]:
    """Both ends and the weight of everything that joins two nodes; a mention weighs 1."""
    edges = [edge for edge in around.edges if edge[0] != edge[1]]
    one = [edge[0] for edge in edges] + [entity_id for entity_id, _ in around.mentions]
    other = [edge[1] for edge in edges] + [chunk_id for _, chunk_id in around.mentions]
    return one, other, [edge[2] for edge in edges] + [1.0] * len(around.mentions)


def _merged(ends: np.ndarray, weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """``ends`` (2, n) and ``weights`` (n) with each pair of nodes once, in either direction, at its greatest weight."""
    pairs = ends.min(axis=0) * count + ends.max(axis=0)
    heaviest = np.lexsort((-weights, pairs))
    distinct, first = np.unique(pairs[heaviest], return_index=True)
    return np.stack(np.divmod(distinct, count)), weights[heaviest[first]]


def _restart(
    names: Sequence[str], number: Mapping[str, int], seeds: Mapping[str, float], dense: Mapping[str, float]
) -> np.ndarray:
    restart = np.zeros(len(names))
    for entity_id, weight in seeds.items():
        restart[number[entity_id]] += weight
    total = restart.sum()
    if total > 0:
        restart /= total
    top = max(dense.values(), default=0.0)
    low = min(dense.values(), default=0.0)
    for chunk_id, similarity in dense.items():
        if chunk_id in number and top > low:
            restart[number[chunk_id]] += _CHUNK_SHARE * (similarity - low) / (top - low)
    return restart


def _iterate(ends: np.ndarray, weights: np.ndarray, restart: np.ndarray) -> np.ndarray:
    source = np.concatenate([ends[0], ends[1]])
    target = np.concatenate([ends[1], ends[0]])
    flow = np.concatenate([weights, weights])
    strength = np.bincount(source, flow, minlength=len(restart))
    share = flow / strength[source]
    scores = restart
    for _ in range(_ITERATIONS):
        spread = np.bincount(target, scores[source] * share, minlength=len(restart))
        scores = (1 - _DAMPING) * restart + _DAMPING * spread
    return scores
