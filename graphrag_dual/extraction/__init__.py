"""Finding mentions and statements in chunks: by a language model, by spaCy, or from a recording; in code by its structure.

    Chunk, Document -> Extractor -> Extraction(Mention, Statement), outcome and reason

Each implements ``ports.Extractor``; none raises for what a text or a model does.
"""

from __future__ import annotations

from pathlib import Path

from graphrag_dual.errors import ConfigError
from graphrag_dual.extraction.code import CodeAwareExtractor
from graphrag_dual.extraction.llm import LlmExtractor
from graphrag_dual.extraction.recorded import RecordedExtractor
from graphrag_dual.extraction.spacy_extractor import SpacyExtractor
from graphrag_dual.ports import ChatModel, Extractor

__all__ = ["CodeAwareExtractor", "LlmExtractor", "RecordedExtractor", "SpacyExtractor", "open_extractor"]


def open_extractor(spec: str, *, chat: ChatModel | None) -> Extractor:
    """Open the extractor that ``spec`` names: ``auto``, ``llm``, ``spacy`` or ``recorded:FILE``.

    ``auto`` is ``llm`` with a chat model and ``spacy`` without one.  With either, source code is extracted by its structure.

    Raises:
        ConfigError: ``spec`` is none of these, or ``llm`` without a chat model.
        InputError: the recording cannot be read.
        ModelError: spaCy or its model is not installed.
    """
    kind, _, argument = spec.partition(":")
    match kind, argument:
        case (("auto" | "llm"), "") if chat is not None:
            return CodeAwareExtractor(LlmExtractor(chat))
        case (("auto" | "spacy"), ""):
            return CodeAwareExtractor(SpacyExtractor())
        case "llm", "":
            raise ConfigError(
                "extractor `llm` has no language model", hint="set OPENAI_API_KEY or OPENAI_BASE_URL, or use `spacy`"
            )
        case "recorded", path if path:
            return RecordedExtractor(Path(path).expanduser())
        case _:
            raise ConfigError(f"unknown extractor {spec!r}", hint="use `auto`, `llm`, `spacy` or `recorded:FILE`")
