"""What each ranked list's vote weighs in the strategy ``learned``, the default.

All lists of both channels are fused at once, by rank only, with a small constant: the first places of each list count, and
the deep lists (the graph's, the walk from reports to chunks) add what the others lack.  The weights were chosen on the even
questions of one set and confirmed on its odd ones and on other sets (DECISIONS.md).
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LEARNED_K", "LIST_WEIGHTS"]

LEARNED_K = 5

LIST_WEIGHTS: Mapping[str, float] = {
    "local/dense": 0.5,
    "local/bm25": 0.5,
    "local/exact": 0.5,
    "local/graph": 2.0,
    "local/local_entity": 0.8,
    "global/walk": 0.75,
    "global/global_community": 1.0,
}
"""Weight of each list, by ``channel/list``, or by ``channel/source type`` where all of it is one list."""
