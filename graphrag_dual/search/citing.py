"""Where in a document the evidence of an answer stands."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import replace

from graphrag_dual.model import Citation, SearchHit

__all__ = ["cite", "placed"]

_PLACES = ("page", "line")


def placed(about: Mapping[str, object]) -> dict[str, object]:
    """Metadata of a chunk with the ``page`` and ``line`` where it begins, if known, and where later pages begin in it.

    Those are ``page_breaks``, offsets in the document, instead of the ``page_starts`` of the whole document.
    """
    known = {key: value for key, value in about.items() if key != "page_starts" and (key not in _PLACES or value)}
    starts, start, end = about.get("page_starts"), about.get("start"), about.get("end")
    if known.get("page") and isinstance(starts, str) and isinstance(start, int) and isinstance(end, int):
        pages = json.loads(starts)
        if breaks := pages[int(str(known["page"])) : bisect_left(pages, end)]:
            known["page_breaks"] = breaks
    return known


def cite(number: int, hit: SearchHit, *, quoted: tuple[int, int] | None = None) -> Citation:
    """``hit`` as evidence ``number``, of which the answer quotes the stretch ``quoted``, None for all of it."""
    about = hit.metadata
    start, page, line = about.get("start"), about.get("page"), about.get("line")
    bare = Citation(number, hit.doc_id, hit.source_type, hit.content, str(about.get("document_uri") or ""))
    if hit.source_type != "local_chunk" or not isinstance(start, int):
        return bare
    first, last = quoted or (0, len(hit.content))
    breaks = about.get("page_breaks")
    visible = len(hit.content) - len(hit.content.lstrip())
    breaks = breaks if isinstance(breaks, list) else []
    return replace(
        bare,
        page=page + bisect_right(breaks, start + first) if isinstance(page, int) else 0,
        line=line + hit.content.count("\n", visible, first) if isinstance(line, int) else 0,
        start=start + first,
        end=start + last,
    )
