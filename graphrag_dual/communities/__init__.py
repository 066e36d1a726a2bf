"""Communities: the hierarchy of entity groups that reports are written about; level 0 is the coarsest."""

from __future__ import annotations

from graphrag_dual.communities.hierarchy import LeidenRow, build_hierarchy, leaf_of

__all__ = ["LeidenRow", "build_hierarchy", "leaf_of"]
