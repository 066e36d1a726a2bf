"""Several sets at once: how far the default stays below the better channel and the best list, at worst and on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.comparing import Comparison, KindTable, Split

__all__ = ["Overall", "overall"]


@dataclass(frozen=True, slots=True)
class Overall:
    """The comparisons by name of their set, and what the tables of all sets and kinds of question say together.

    A regret is what the default loses on NDCG@10, negative where it loses nothing: against the better channel, or against
    the best single list.  ``mean_gain`` is the mean of the default minus the better channel; every table counts the same.
    """

    comparisons: Mapping[str, Comparison]
    worst_regret: float
    worst_regret_at: tuple[str, str]
    worst_list_regret: float
    worst_list_regret_at: tuple[str, str]
    mean_gain: float

    @property
    def splits(self) -> list[Split]:
        """Which questions the sets were asked, each answer once."""
        return list(dict.fromkeys(one.split for one in self.comparisons.values()))

    @property
    def tables(self) -> list[tuple[str, KindTable]]:
        """Name of the set and table of the kind, one after another."""
        return [(name, kind) for name, one in self.comparisons.items() for kind in one.kinds]


def overall(comparisons: Mapping[str, Comparison]) -> Overall:
    """Put the tables of ``comparisons`` together.

    Raises:
        InputError: there is no set.
    """
    tables = [(name, kind) for name, one in comparisons.items() for kind in one.kinds]
    if not tables:
        raise InputError("no set is named", hint="name some, with commas between")
    channel = max(tables, key=lambda one: one[1].regret_channel)
    single = max(tables, key=lambda one: one[1].regret_list)
    return Overall(
        comparisons=comparisons,
        worst_regret=channel[1].regret_channel,
        worst_regret_at=(channel[0], channel[1].kind),
        worst_list_regret=single[1].regret_list,
        worst_list_regret_at=(single[0], single[1].kind),
        mean_gain=-sum(kind.regret_channel for _, kind in tables) / len(tables),
    )
