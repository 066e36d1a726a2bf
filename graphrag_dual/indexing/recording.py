"""What the record of a run may keep: counts, URIs and what was wrong with a file, never words of a document or a model.

A record outlives the documents that it speaks of, so that an auditor can see when what came and went.  A URI is an address
and no content; the reasons of failed extractions and malformed records, which may quote a text, stay with the chunk, go with
it, and are counted here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["record_values"]

_MAY_QUOTE = frozenset({"rejected", "failed_chunks", "failed_reports"})


def record_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` of a report with the lists that may quote a text replaced by their lengths, at any depth."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if name in _MAY_QUOTE and isinstance(value, list):
            kept[name] = len(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, Mapping):
            kept[name] = record_values(value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            kept[name] = value
    return kept
