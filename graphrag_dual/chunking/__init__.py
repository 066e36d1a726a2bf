"""Documents into chunks: sentence- and heading-aware slices that fit the embedding model's window.

The cutting is done by ``semantic-text-splitter``, which takes the largest unit (section, block, sentence, word,
character) that fits.  What is added here is what the index relies on: offsets, ids, headings, a time that grows with
the text only, and a size that holds whatever the token counter does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from graphrag_dual.chunking.headings import Heading, find_headings, heading_path, looks_like_markdown
from graphrag_dual.ids import chunk_id
from graphrag_dual.model import Chunk, Document

__all__ = ["CONTEXT_TOKENS", "split"]

# Title and headings are embedded in front of a chunk; more of them would push its end out of the embedder's window.
CONTEXT_TOKENS = 32

# No token is taken to be longer than this on average over a chunk.  It spares counting texts that are far too long, and
# it bounds the chunk where a tokenizer counts an endless word as one unknown token.
_MAX_CHARS_PER_TOKEN = 16
# This long without a blank or a full-width stop is base64, minified code or noise: there is no sentence to respect, and
# the splitter's search for one would take minutes.
_UNBROKEN = re.compile(r"[^\s。、，！？；：]{2048,}")
# The splitter sees at most this many characters at a time, so that its time is linear in the text.
_BLOCK_CHARS = 65_536
_SURROGATE = re.compile(r"[\ud800-\udfff]")

Span = tuple[int, int]
CountTokens = Callable[[str], int]


def split(document: Document, *, max_tokens: int, count_tokens: CountTokens) -> list[Chunk]:
    """Cut ``document`` into chunks in reading order, without overlap; a blank document has none.

    Every character that is not white space lies in exactly one chunk, and ``document.text[chunk.start:chunk.end]`` is
    ``chunk.text``.  A chunk has at most ``max_tokens`` tokens by ``count_tokens`` unless it is one character.  Markdown
    is cut at headings and keeps a table or code block whole where it fits.  ``chunk.context``, title and headings, has at
    most 32 tokens on top.  The same input gives the same chunks.

    Raises:
        ValueError: ``max_tokens`` is below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
    # One code point for one, so offsets hold; the splitter and tokenizers take valid Unicode only.
    text = _SURROGATE.sub("\ufffd", document.text)
    headings = find_headings(text) if looks_like_markdown(text) else []
    splitter = _splitter(text, max_tokens, count_tokens)
    sized: list[tuple[int, int, int]] = []
    for start, end in _blocks(text, headings):
        for span in _cut(text, start, end, splitter, max_tokens):
            sized.extend(_fit(text, span, max_tokens, count_tokens))
    paths = heading_path(text, headings, (start for start, _, _ in sized))
    contexts = {path: _context(document.title, path, count_tokens) for path in dict.fromkeys(paths)}
    return _chunks(document, sized, paths, contexts)


def _context(title: str, heading: str, count_tokens: CountTokens) -> str:
    """Title and headings in few tokens: of a path that is too long, title and innermost heading stay longest."""
    parts = list(dict.fromkeys(part for part in (title, *heading.split(" > ")) if part))
    while len(parts) > 1 and count_tokens(" > ".join(parts)) > CONTEXT_TOKENS:
        parts.pop(1 if len(parts) > 2 else 0)
    context = " > ".join(parts)[: CONTEXT_TOKENS * _MAX_CHARS_PER_TOKEN]
    while count_tokens(context) > CONTEXT_TOKENS:
        context = context[: len(context) * 3 // 4]
    return context.strip()


def _chunks(
    document: Document, sized: list[tuple[int, int, int]], paths: list[str], contexts: Mapping[str, str]
) -> list[Chunk]:
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for index, ((start, end, tokens), heading) in enumerate(zip(sized, paths, strict=True)):
        text = document.text[start:end]
        chunks.append(
            Chunk(
                id=chunk_id(document.id, text, seen[text]),
                document_id=document.id,
                index=index,
                text=text,
                start=start,
                end=end,
                tokens=tokens,
                heading=heading,
                context=contexts[heading],
            )
        )
        seen[text] += 1
    return chunks


def _splitter(text: str, max_tokens: int, count_tokens: CountTokens) -> TextSplitter | MarkdownSplitter:
    most_chars = max_tokens * _MAX_CHARS_PER_TOKEN

    def size(piece: str) -> int:
        return max_tokens + 1 if len(piece) > most_chars else count_tokens(piece)

    kind = MarkdownSplitter if looks_like_markdown(text) else TextSplitter
    return kind.from_callback(size, max_tokens)


def _blocks(text: str, headings: list[Heading]) -> Iterator[Span]:
    """Stretches of at most ``_BLOCK_CHARS``, cut where a reader would; unbroken runs stand alone."""
    position = 0
    for run in _UNBROKEN.finditer(text):
        yield from _prose_blocks(text, position, run.start(), headings)
        yield run.span()
        position = run.end()
    yield from _prose_blocks(text, position, len(text), headings)


def _prose_blocks(text: str, start: int, end: int, headings: list[Heading]) -> Iterator[Span]:
    while end - start > _BLOCK_CHARS:
        lower, upper = start + _BLOCK_CHARS // 2, start + _BLOCK_CHARS
        at_heading = [heading.start for heading in headings if lower < heading.start <= upper]
        cuts = (text.rfind(mark, lower, upper) + len(mark) for mark in ("\n\n", "\n", "。", ". ", " "))
        cut = at_heading[-1] if at_heading else next((cut for cut in cuts if cut > lower), upper)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _cut(text: str, start: int, end: int, splitter: TextSplitter | MarkdownSplitter, max_tokens: int) -> Iterator[Span]:
    if _UNBROKEN.fullmatch(text, start, end):
        yield from ((at, min(at + max_tokens, end)) for at in range(start, end, max_tokens))
        return
    for offset, piece in splitter.chunk_indices(text[start:end]):
        yield start + offset, start + offset + len(piece)


def _fit(text: str, span: Span, max_tokens: int, count_tokens: CountTokens) -> Iterator[tuple[int, int, int]]:
    """``span`` with its tokens, halved until it fits: a counter need not be monotone, and the limit must hold."""
    start, end = span
    piece = text[start:end]
    if not piece.strip():
        return
    tokens = count_tokens(piece)
    if tokens <= max_tokens or len(piece) == 1:
        yield start, end, tokens
        return
    middle = (start + end) // 2
    yield from _fit(text, (start, middle), max_tokens, count_tokens)
    yield from _fit(text, (middle, end), max_tokens, count_tokens)
