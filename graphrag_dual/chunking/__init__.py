"""Documents into chunks: slices that fit the embedding model's window, cut where a reader would.

    text    at headings, blocks, sentences       ``semantic-text-splitter``, which takes the largest unit that fits
    code    at functions and classes             ``graphrag_dual.sourcecode``
    noise   anywhere, and marked                 ``chunking.noise``

What is added to the splitter is what the index relies on: offsets with pages and lines, ids, headings, a time that grows
with the text only, and a size that holds whatever the token counter does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from graphrag_dual.chunking.headings import Markdown, heading_path, looks_like_markdown, read_markdown, table_header
from graphrag_dual.chunking.noise import find_noise
from graphrag_dual.chunking.places import Places, page_starts_of
from graphrag_dual.ids import chunk_id
from graphrag_dual.model import Chunk, Document
from graphrag_dual.sourcecode import code_outline
from graphrag_dual.sourcecode.pieces import code_pieces

__all__ = ["chunk_window", "noise_in", "split"]

# What is embedded in front of a chunk, so that its end stays within the model's window: title and headings, and the model's
# own tokens (a start, an end, a prefix such as ``passage:``), six at most.
_CONTEXT_TOKENS = 26
_RESERVED_TOKENS = _CONTEXT_TOKENS + 6

# Longer chunks blur what their vector says, however much a model reads.
_MAX_CHUNK_TOKENS = 512

# No token is taken to be longer than this on average over a chunk.  It spares counting texts that are far too long, and
# it bounds the chunk where a tokenizer counts an endless word as one unknown token.
_MAX_CHARS_PER_TOKEN = 16
# This long without a blank or a full-width stop: there is no sentence to respect, and the splitter's search for one would
# take minutes.
_UNBROKEN = re.compile(r"[^\s。、，！？；：]{2048,}+")
# The same at the beginning of a run only: tried at each of its characters, runs that are a little shorter would cost time.
_UNBROKEN_FROM_START = re.compile(r"(?<![^\s。、，！？；：])" + _UNBROKEN.pattern)
# The splitter sees at most this many characters at a time, so that its time is linear in the text.
_BLOCK_CHARS = 65_536
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Span = tuple[int, int]
CountTokens = Callable[[str], int]
Splitter = TextSplitter | MarkdownSplitter


@dataclass(frozen=True, slots=True)
class _Slice:
    start: int
    end: int
    tokens: int
    noise: bool = False


def chunk_window(model_tokens: int, *, chunk_tokens: int = 0) -> int:
    """Tokens of a chunk for a model that reads ``model_tokens`` with a context in front; at most 512 unless set higher.

    ``chunk_tokens`` is the setting of that name; 0 leaves it to the model.
    """
    return min(chunk_tokens or _MAX_CHUNK_TOKENS, model_tokens - _RESERVED_TOKENS)


def split(document: Document, *, max_tokens: int, count_tokens: CountTokens) -> list[Chunk]:
    """Cut ``document`` into chunks in reading order, without overlap; a blank document has none.

    Every character that is not white space lies in exactly one chunk, and ``document.text[chunk.start:chunk.end]`` is
    ``chunk.text``.  A chunk has at most ``max_tokens`` tokens by ``count_tokens`` unless it is one character or noise.
    Markdown is cut at headings and keeps a table or code block whole where it fits; source code is cut at functions and
    classes, and ``heading`` is the path of these.  ``chunk.context``, title and headings, and for the later pieces of a
    table its first row, has at most 26 tokens on top.  The same input gives the same chunks.

    Raises:
        ValueError: ``max_tokens`` is below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
    # One code point for one, so offsets hold; the splitter and tokenizers take valid Unicode only.
    text = _SURROGATE.sub("\ufffd", document.text)
    outline = code_outline(document)
    markdown = read_markdown(text) if outline is None and looks_like_markdown(text) else Markdown()
    cutter = _Cutter(text, markdown, max_tokens, count_tokens, is_code=outline is not None)
    if outline is not None:
        pieces = code_pieces(text, outline, fits=cutter.fits)
        slices = [(one, piece.heading) for piece in pieces for one in cutter.cut(piece.start, piece.end)]
    else:
        found = list(cutter.cut(0, len(text)))
        slices = list(
            zip(found, heading_path(text, markdown.headings, (one.start for one in found)), strict=True),
        )
    return _chunks(document, slices, markdown, count_tokens)


def noise_in(document: Document, chunks: Sequence[Chunk]) -> str:
    """One line on what of ``document`` is noise; ``""`` where nothing is."""
    noise = [chunk for chunk in chunks if chunk.noise]
    if not noise:
        return ""
    characters = sum(len(chunk.text) for chunk in noise)
    what = f"{characters} characters from line {noise[0].line} on, base64, minified code or the like"
    return f"{document.uri}: {what}: kept, neither embedded nor extracted"


def _chunks(
    document: Document, slices: Sequence[tuple[_Slice, str]], markdown: Markdown, count_tokens: CountTokens
) -> list[Chunk]:
    seen: Counter[str] = Counter()
    places = Places(document.text, page_starts_of(document.metadata))
    context = cache(lambda heading, header: _context(document.title, heading, header, count_tokens))
    chunks: list[Chunk] = []
    for index, (one, heading) in enumerate(slices):
        text = document.text[one.start : one.end]
        page, line = places.of(one.start)
        chunks.append(
            Chunk(
                id=chunk_id(document.id, text, seen[text]),
                document_id=document.id,
                index=index,
                text=text,
                start=one.start,
                end=one.end,
                tokens=one.tokens,
                heading=heading,
                context=context(heading, table_header(document.text, markdown.tables, one.start)),
                page=page,
                line=line,
                noise=one.noise,
            )
        )
        seen[text] += 1
    return chunks


def _context(title: str, heading: str, header: str, count_tokens: CountTokens) -> str:
    """Title and headings in few tokens: of a path that is too long, title and innermost heading stay longest.

    The first row of a table has a line of its own, and up to half of the tokens.
    """
    row = _cut_to(header, _CONTEXT_TOKENS // 2, count_tokens)
    room = _CONTEXT_TOKENS - (count_tokens(row) if row else 0)
    parts = list(dict.fromkeys(part for part in (title, *heading.split(" > ")) if part))
    while len(parts) > 1 and count_tokens(" > ".join(parts)) > room:
        parts.pop(1 if len(parts) > 2 else 0)
    above = _cut_to(" > ".join(parts), room, count_tokens)
    both = "\n".join(filter(None, [above, row]))
    return both if count_tokens(both) <= _CONTEXT_TOKENS else above


def _cut_to(text: str, most: int, count_tokens: CountTokens) -> str:
    text = text[: most * _MAX_CHARS_PER_TOKEN]
    while count_tokens(text) > most:
        text = text[: len(text) * 3 // 4]
    return text.strip()


class _Cutter:
    """Cuts stretches of one text."""

    def __init__(
        self, text: str, markdown: Markdown, max_tokens: int, count_tokens: CountTokens, *, is_code: bool
    ) -> None:
        self._text = text
        self._max_tokens = max_tokens
        self._count = count_tokens
        self._most_chars = max_tokens * _MAX_CHARS_PER_TOKEN
        self._noise = find_noise(text)
        self._headings = [heading.start for heading in markdown.headings]
        self._wholes = markdown.wholes
        kind = MarkdownSplitter if looks_like_markdown(text) and not is_code else TextSplitter
        # Indentation is part of code: a document of it can be put together from its chunks and still be parsed.
        self._splitter: Splitter = kind.from_callback(self._size, max_tokens, trim=not is_code)

    def fits(self, start: int, end: int) -> bool:
        """Whether the stretch makes one chunk."""
        return self._size(self._text[start:end]) <= self._max_tokens

    def cut(self, start: int, end: int) -> Iterator[_Slice]:
        """The stretch in slices, without those that are blank."""
        position = start
        for noise in self._noise[bisect_right(self._noise, start, key=lambda span: span[1]) :]:
            if noise[0] >= end:
                break
            first, last = max(noise[0], start), min(noise[1], end)
            yield from self._cut_prose(position, first)
            for at in range(first, last, self._most_chars):
                until = min(at + self._most_chars, last)
                if self._text[at:until].strip():
                    yield _Slice(at, until, 0, noise=True)
            position = last
        yield from self._cut_prose(position, end)

    def _size(self, piece: str) -> int:
        return self._max_tokens + 1 if len(piece) > self._most_chars else self._count(piece)

    def _cut_prose(self, start: int, end: int) -> Iterator[_Slice]:
        for block in self._blocks(start, end):
            for span in self._spans(*block):
                yield from self._fit(*span)

    def _blocks(self, start: int, end: int) -> Iterator[Span]:
        """Stretches of at most ``_BLOCK_CHARS``, cut where a reader would; unbroken runs stand alone."""
        position = start
        cut_run = _UNBROKEN.match(self._text, start, end)  # its beginning may be noise
        rest = _UNBROKEN_FROM_START.finditer(self._text, cut_run.end() if cut_run else start, end)
        for run in (*filter(None, [cut_run]), *rest):
            yield from self._prose_blocks(position, run.start())
            yield run.span()
            position = run.end()
        yield from self._prose_blocks(position, end)

    def _prose_blocks(self, start: int, end: int) -> Iterator[Span]:
        while end - start > _BLOCK_CHARS:
            lower, upper = start + _BLOCK_CHARS // 2, start + _BLOCK_CHARS
            heading = bisect_right(self._headings, upper) - 1
            if heading >= 0 and self._headings[heading] > lower:
                cut = self._headings[heading]
            else:
                marks = ("\n\n", "\n", "。", ". ", " ")
                cuts = (self._text.rfind(mark, lower, upper) + len(mark) for mark in marks)
                cut = self._outside(next((cut for cut in cuts if cut > lower), upper), lower)
            yield start, cut
            start = cut
        if start < end:
            yield start, end

    def _outside(self, cut: int, lower: int) -> int:
        """``cut``, or the start of the table or code block that it would divide, if that is above ``lower``."""
        at = bisect_right(self._wholes, cut, key=lambda span: span[0]) - 1
        inside = at >= 0 and lower < self._wholes[at][0] < cut < self._wholes[at][1]
        return self._wholes[at][0] if inside else cut

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        if _UNBROKEN.fullmatch(self._text, start, end):
            step = self._max_tokens
            yield from ((at, min(at + step, end)) for at in range(start, end, step))
            return
        spans: list[Span] = []
        for offset, piece in self._splitter.chunk_indices(self._text[start:end]):
            span = start + offset, start + offset + len(piece)
            if spans and (self._is_blank(*span) or self._is_blank(*spans[-1])):  # of code only, which is not trimmed
                span = spans.pop()[0], span[1]
            spans.append(span)
        yield from spans

    def _is_blank(self, start: int, end: int) -> bool:
        return self._text[start:end].isspace()

    def _fit(self, start: int, end: int) -> Iterator[_Slice]:
        """The stretch with its tokens, halved until it fits: a counter need not be monotone, and the limit must hold."""
        piece = self._text[start:end]
        if not piece.strip():
            return
        tokens = self._count(piece)
        if tokens <= self._max_tokens or len(piece) == 1:
            yield _Slice(start, end, tokens)
            return
        middle = (start + end) // 2
        yield from self._fit(start, middle)
        yield from self._fit(middle, end)
