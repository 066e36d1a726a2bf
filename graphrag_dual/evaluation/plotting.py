"""NDCG@10 of every strategy as bars with 95 % intervals, one panel a kind of question, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from graphrag_dual.evaluation.comparing import MAIN_METRIC, Comparison, KindTable, Row
from graphrag_dual.evaluation.strategies import CHANNELS, LISTS

__all__ = ["as_svg"]

_BAR, _GAP, _LEFT, _RIGHT = 34, 14, 56, 20
_HEIGHT, _TOP, _LABELS = 180, 64, 60
_GREY, _BLUE, _TEAL, _DARK = "#9aa5b1", "#4c78a8", "#72b7b2", "#d1495b"
_STYLE = "text{font-family:sans-serif;font-size:11px;fill:#222}.t{font-size:14px;font-weight:bold}.v{font-size:10px}"


def as_svg(comparison: Comparison) -> str:
    """The chart; every bar says its number."""
    most = max(len(kind.rows) for kind in comparison.kinds)
    width = _LEFT + most * (_BAR + _GAP) + _RIGHT
    panel = _TOP + _HEIGHT + _LABELS
    heading = comparison.heading
    about = f"{heading.dataset}, split {comparison.split}, {heading.embedding_model}, extraction {heading.extractor}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {panel * len(comparison.kinds) + 24}" role="img">',
        f"<title>{escape(MAIN_METRIC)} by strategy: {escape(about)}</title><style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *(part for at, kind in enumerate(comparison.kinds) for part in _panel(kind, width=width, top=at * panel)),
        f'<text x="{_LEFT}" y="{panel * len(comparison.kinds) + 12}" class="v">{escape(about)}; bars: mean, '
        "lines: 95 % bootstrap interval</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panel(kind: KindTable, *, width: int, top: int) -> Iterator[str]:
    base = top + _TOP + _HEIGHT
    title = f"{MAIN_METRIC}, {kind.kind} ({kind.questions} questions)"
    yield f'<text x="{_LEFT}" y="{top + 30}" class="t">{escape(title)}</text>'
    for step in range(6):
        y = base - _HEIGHT * step / 5
        yield f'<line x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:g}" y2="{y:g}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">{step / 5:.1f}</text>'
    for at, row in enumerate(kind.rows):
        yield from _bar(row, x=_LEFT + _GAP / 2 + at * (_BAR + _GAP), base=base, of=kind.questions)


def _bar(row: Row, *, x: float, base: float, of: int) -> Iterator[str]:
    high, low = (base - _HEIGHT * value for value in (row.main.high, row.main.low))
    y, middle = base - _HEIGHT * row.main.mean, x + _BAR / 2
    said = f"{row.strategy}: {row.main.mean:.3f} [{row.main.low:.3f}, {row.main.high:.3f}], {row.questions} questions"
    yield (
        f'<rect x="{x:g}" y="{y:.1f}" width="{_BAR}" height="{base - y:.1f}" fill="{_colour(row.strategy)}">'
        f"<title>{escape(said)}</title></rect>"
    )
    whisker = f"M{middle:g} {high:.1f}V{low:.1f}M{middle - 4:g} {high:.1f}h8M{middle - 4:g} {low:.1f}h8"
    yield f'<path d="{whisker}" stroke="#222"/>'
    yield f'<text x="{middle:g}" y="{high - 5:.1f}" text-anchor="middle" class="v">{row.main.mean:.3f}</text>'
    name = row.strategy if row.questions == of else f"{row.strategy} ({row.questions})"
    yield f'<text transform="translate({middle + 4:g} {base + 10:g}) rotate(-40)" text-anchor="end">{escape(name)}</text>'


def _colour(strategy: str) -> str:
    if strategy in LISTS:
        return _GREY
    return _BLUE if strategy in CHANNELS else _DARK if strategy == "default" else _TEAL
