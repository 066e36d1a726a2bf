"""Finding mentions and statements in chunks: by a language model, by spaCy, or from a recording; in code by its structure.

    Chunk, Document -> Extractor -> Extraction(Mention, Statement), outcome and reason

Each implements ``ports.Extractor``; none raises for what a text or a model does.
"""

from __future__ import annotations

from pathlib import Path

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError
from graphrag_dual.extraction.code import AskingCodeAwareExtractor, CodeAwareExtractor
from graphrag_dual.extraction.llm import ExtractionOptions, LlmExtractor
from graphrag_dual.extraction.recorded import RecordedExtractor
from graphrag_dual.extraction.schema import load_schema
from graphrag_dual.extraction.spacy_extractor import SpacyExtractor
from graphrag_dual.ports import ChatModel, Extractor

__all__ = [
    "CodeAwareExtractor",
    "ExtractionOptions",
    "LlmExtractor",
    "RecordedExtractor",
    "SpacyExtractor",
    "extraction_options",
    "open_extractor",
]


def extraction_options(settings: Settings) -> ExtractionOptions:
    """How the settings let a language model extract.

    Raises:
        ConfigError: the schema file cannot be read or is malformed.
    """
    return ExtractionOptions(
        schema=load_schema(Path(settings.schema_file).expanduser()) if settings.schema_file else None,
        gleanings=settings.gleanings,
        language=settings.language,
        grounded=settings.grounded,
    )


def open_extractor(spec: str, *, chat: ChatModel | None, options: ExtractionOptions | None = None) -> Extractor:
    """Open the extractor that ``spec`` names: ``auto``, ``llm``, ``spacy`` or ``recorded:FILE``.

    ``auto`` is ``llm`` with a chat model and ``spacy`` without one; ``options`` are those of ``llm``.  With either, source
    code is extracted by its structure.

    Raises:
        ConfigError: ``spec`` is none of these, or ``llm`` without a chat model.
        InputError: the recording cannot be read.
        ModelError: spaCy or its model is not installed.
    """
    kind, _, argument = spec.partition(":")
    match kind, argument:
        case (("auto" | "llm"), "") if chat is not None:
            return AskingCodeAwareExtractor(LlmExtractor(chat, options))
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
