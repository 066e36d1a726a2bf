"""Index 240 passages with a language model that fails 30 % of its calls, in twelve ways.

completed     share of passages whose extraction is done
bad_records   entities and facts of the index that the passages do not hold, and those that are missing from it
call_ratio    calls sent for each passage
retry_layers  layers that try again: the requests of one call that always fails, by the attempts that are set
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
import secrets

from _scripted_llm import WAYS, Model, Reply, failure, serve
from _server import DIMENSIONS, served

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.loading.documents import make_document
from graphrag_dual.model import Document
from graphrag_dual.models.openai_compatible import OpenAIChat
from graphrag_dual.models.testing import HashEmbedder

__all__ = ["configure", "run"]

_PASSAGES = 240
_SHARE = 0.30
_TRADES = ["ropes", "salt", "maps", "lamps", "grain", "clocks", "wool", "paper", "glass", "tar"]
_FIRST = ["Mara", "Odo", "Pim", "Quell", "Tarn", "Brask", "Ilse", "Jory", "Hanne", "Wick"]
_LAST = ["Vance", "Quill", "Mill", "Harbour", "Fenn", "Sorrel", "Thorne", "Ashby", "Dray", "Marlow"]
_STATED = re.compile(r"(\w+ \w+ \d+) sells (\w+) to (\w+ \w+ \d+)\.")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seed", type=int, default=1, help="which calls fail (default 1)")


def run(arguments: argparse.Namespace) -> tuple[dict[str, float], bool]:
    """Index the passages, then look at what came of it."""
    workspace = f"llm{secrets.token_hex(6)}"
    model = Model(_records, lambda passage, nth: _way(arguments.seed, passage, nth))
    with served(workspace) as server, serve(model.reply) as url:
        settings = server.model_copy(
            update={"offline": False, "openai_base_url": url, "chat_model": "scripted", "model_timeout_s": 2.0}
        )
        documents = [_document(number, workspace) for number in range(_PASSAGES)]
        with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
            report = rag.ingest(documents, extractor="llm")
            lines = [row["line"] for row in rag.admin("digest", {"workspace": workspace})]
            rag.admin("wipe", {"workspace": workspace, "confirm": "yes"})
        layers = _retry_layers(settings)
    figures = {
        "completed": report.outcomes.get("done", 0) / _PASSAGES,
        "bad_records": len(_indexed(lines) ^ _expected(documents)),
        "call_ratio": round(model.requests / _PASSAGES, 3),
        "retry_layers": layers,
        "ways": len(model.ways.keys() & WAYS.keys()),
        "failed_share": round(1 - model.ways["well"] / model.requests, 3),
    }
    sound = (figures["completed"], figures["bad_records"], layers) == (1.0, 0, 1) and figures["call_ratio"] <= 1.6
    return figures, sound


def _retry_layers(settings: Settings) -> float:
    """Requests of one call to a server that always fails, for each attempt that the settings allow."""
    requests = 0

    def refuse(body: object) -> Reply:
        nonlocal requests
        requests += 1
        return failure(500, retry_after_ms="1")

    async def ask(url: str) -> None:
        chat = OpenAIChat(settings.model_copy(update={"openai_base_url": url}))
        try:
            await chat.complete(system="s", user="u")
        except ModelError:
            pass
        finally:
            await chat.aclose()

    with serve(refuse) as url:
        asyncio.run(ask(url))
    layers = requests / settings.model_attempts
    return int(layers) if layers.is_integer() else layers


# -- the passages, and what they hold --------------------------------------------------------------------------------------


def _name(number: int) -> str:
    return f"{_FIRST[number % 10]} {_LAST[number // 10 % 10]} {number}"


def _document(number: int, workspace: str) -> Document:
    told = [
        f"{_name(number + step)} sells {_TRADES[(number + step) % 10]} to {_name(number + step + 1)}."
        for step in range(3)
    ]
    return make_document(" ".join(told), uri=f"ledger/{number}", title="Ledger", workspace=workspace)


def _records(passage: str) -> dict[str, list[dict[str, object]]]:
    """What a careful reader extracts from ``passage``."""
    stated = _STATED.findall(passage)
    names = dict.fromkeys(name for seller, _, buyer in stated for name in (seller, buyer))
    return {
        "entities": [{"name": name, "type": "PERSON", "description": f"{name} trades."} for name in names],
        "relationships": [
            {"source": seller, "target": buyer, "predicate": f"sells {what} to", "description": "", "weight": 3}
            for seller, what, buyer in stated
        ],
    }


def _expected(documents: list[Document]) -> set[tuple[str, ...]]:
    """Names and facts as they stand in the passages."""
    found: set[tuple[str, ...]] = set()
    for document in documents:
        for seller, what, buyer in _STATED.findall(document.text):
            found |= {(seller,), (buyer,), (seller, f"sells {what} to", buyer)}
    return found


def _indexed(lines: list[str]) -> set[tuple[str, ...]]:
    """The same of the index, from the lines of its digest."""
    parts = [(line.split(" ", 2)[0], line.split(" ", 2)[2].split(" | ")) for line in lines if " | " in line]
    return {(part[0],) if kind == "entity" else tuple(part[:3]) for kind, part in parts if kind in {"entity", "fact"}}


def _way(seed: int, passage: str, nth: int) -> str:
    """Decide by the passage and the number of its call, so that a run is the same every time."""
    digest = hashlib.sha256(f"{seed} {nth} {passage}".encode()).digest()
    chance, which = int.from_bytes(digest[:4], "big") / 2**32, digest[4]
    return list(WAYS)[which % len(WAYS)] if chance < _SHARE else "well"
