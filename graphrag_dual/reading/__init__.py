"""Reading an item in its setting: the summaries above it, the details below it, what stands beside it."""

from __future__ import annotations

from graphrag_dual.reading.pyramid import PyramidReader, setting

__all__ = ["PyramidReader", "setting"]
