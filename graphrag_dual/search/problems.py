"""How the failure of one part of a search is told in a notice."""

from __future__ import annotations

import re

from graphrag_dual.errors import GraphRagDualError

__all__ = ["one_line"]

_USERINFO = re.compile(r"://[^/\s@]*@")


def one_line(error: Exception) -> str:
    """Class and message, short and without the user part of an address."""
    text = error.what if isinstance(error, GraphRagDualError) else " ".join(str(error).split())
    return _USERINFO.sub("://", f"{type(error).__name__}: {text}" if text else type(error).__name__)[:300]
