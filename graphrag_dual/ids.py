"""Identity from content: every id is a hash of what the thing *is*, so that writing it twice changes nothing.

An id never depends on time, order, process or machine.  All ids are 32 lower-case hexadecimal digits (128 bits of
BLAKE2b) over the parts joined by U+001F, with the workspace as the first part, so that two workspaces never share one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

__all__ = [
    "chunk_id",
    "community_id",
    "content_hash",
    "document_id",
    "entity_id",
    "fact_id",
    "finding_id",
    "model_batch_id",
    "model_call_id",
    "normalise_name",
    "relationship_id",
    "report_id",
    "spend_id",
    "workspace_scope",
]

_SEPARATOR = "\x1f"
_QUOTES = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›「」『』"), None)
_BLANK = re.compile(r"\s+")
_TELLING_ASCII = re.compile(r"[a-z0-9$+<=>^`|~]")  # letters, numbers and symbols


def content_hash(*parts: str) -> str:
    """Hash ``parts`` in order; 32 hexadecimal digits.  Lone surrogates are hashed, not refused."""
    joined = _SEPARATOR.join(parts).encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(joined, digest_size=16).hexdigest()


def normalise_name(name: str) -> str:
    """Reduce a name to the form under which two spellings are one entity.

    NFKC (width and compatibility forms), case-folded, control, zero-width and bidirectional marks removed, quotation
    marks at either end removed, white space collapsed.  Everything else stays: ``C++`` and ``C#`` remain two names.  A
    name that consists of punctuation only, such as ``——``, is blank and gives ``""``.
    """
    if (
        name.isascii() and name.isprintable()
    ):  # most are, and a question has hundreds of runs of words that may be names
        text = _strip_quotes(_BLANK.sub(" ", name).strip()).lower()
        return text if _TELLING_ASCII.search(text) else ""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(" " if char.isspace() else char for char in text)
    text = "".join(char for char in text if unicodedata.category(char) not in {"Cf", "Cc", "Cs"})
    text = _strip_quotes(_BLANK.sub(" ", text).strip())
    folded = unicodedata.normalize("NFKC", text.casefold())
    return folded if any(unicodedata.category(char)[0] in "LNS" for char in folded) else ""


_QUOTE_SIGNS = "".join(map(chr, _QUOTES))


def _strip_quotes(text: str) -> str:
    while text and (ord(text[0]) in _QUOTES or ord(text[-1]) in _QUOTES):
        stripped = text.strip(_QUOTE_SIGNS).strip()
        if stripped == text:
            break
        text = stripped
    return text


def workspace_scope(workspace: str) -> str:
    """One word of letters and digits that stands for a workspace in full-text indexes."""
    return f"w{content_hash('scope', workspace)[:16]}"


def document_id(workspace: str, uri: str) -> str:
    """A document is its URI within a workspace; its text may change."""
    return content_hash("document", workspace, uri)


def chunk_id(document: str, text: str, nth: int) -> str:
    """A chunk is its text within a document; ``nth`` (0-based) tells repeated boilerplate apart."""
    return content_hash("chunk", document, text, str(nth))


def entity_id(workspace: str, name: str, *, sense: str = "") -> str:
    """A name is its normalised form within a workspace, and an entity the name that stands for all of its names.

    ``sense`` tells namesakes apart; it is empty where there are none.
    """
    parts = ("entity", workspace, normalise_name(name))
    return content_hash(*parts, sense) if sense else content_hash(*parts)


def fact_id(subject_id: str, predicate: str, object_id: str) -> str:
    """A fact is its two entities and the normalised predicate between them."""
    return content_hash("fact", subject_id, normalise_name(predicate), object_id)


def relationship_id(source_id: str, target_id: str) -> str:
    """A relationship is the ordered pair of the entities that it joins."""
    return content_hash("relationship", source_id, target_id)


def community_id(workspace: str, level: int, member_ids: Iterable[str]) -> str:
    """A community is its level and its set of members, in any order."""
    return content_hash("community", workspace, str(level), *sorted(member_ids))


def report_id(input_hash: str, generator: str) -> str:
    """A report is what it was written from and by whom: the same input is never paid for twice."""
    return content_hash("report", input_hash, generator)


def finding_id(report: str, number: int) -> str:
    """A finding is its 1-based number within a report."""
    return content_hash("finding", report, str(number))


def model_call_id(workspace: str, key: str) -> str:
    """A kept answer is all that was asked (``key``) within a workspace."""
    return content_hash("model-call", workspace, key)


def spend_id(workspace: str, run: str, stage: str, model: str) -> str:
    """A line of the bill is what one stage of one run spent on one model."""
    return content_hash("spend", workspace, run, stage, model)


def model_batch_id(workspace: str, input_file: str) -> str:
    """A batch of calls is the file of requests that was sent, within a workspace."""
    return content_hash("model-batch", workspace, input_file)
