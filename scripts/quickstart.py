"""Index real documents in a real Neo4j and ask one local and one global question.  See scripts/quickstart."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from graphrag_dual import Document, GraphRAG, Settings, localdb
from graphrag_dual.cli.output import ProgressBars, show_error
from graphrag_dual.cli.query import show_result
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.loading.sample import python_topics

_HOME = "quickstart"
_TOPICS = 25


def main() -> int:
    """Run the quickstart; the exit code says whether it worked."""
    parser = argparse.ArgumentParser(prog="scripts/quickstart", description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, help="your own documents (default: Python's language reference)"
    )
    parser.add_argument("--local-question", default="How are default parameter values evaluated?")
    parser.add_argument("--global-question", default="Summarize the main themes of these documents.")
    arguments = parser.parse_args()
    try:
        run(arguments.folder, arguments.local_question, arguments.global_question)
    except GraphRagDualError as error:
        show_error(error, as_json=False)
        return error.exit_code
    return 0


def run(folder: Path | None, local_question: str, global_question: str) -> None:
    """Start the server, ingest, refresh, and print what came of it."""
    started = time.perf_counter()
    settings = Settings.load(home=_HOME, offline=True, embedding_model="local:all-MiniLM-L6-v2")
    with ProgressBars() as bars:
        if settings.neo4j_uri is None:
            localdb.up(settings.home, on_progress=bars.progress)
        with GraphRAG(settings, observer=bars) as rag:
            sources: list[Path] | list[Document] = (
                [folder] if folder else python_topics(settings.workspace, limit=_TOPICS)
            )
            ingested = rag.ingest(sources)
            rag.refresh()
            show_index(rag)
            print(
                f"ingested {ingested.documents} documents in {ingested.seconds:.0f} s, {ingested.unchanged} unchanged"
            )
            for question in (local_question, global_question):
                print(f"\nQ: {question}")
                show_result(rag.search(question, limit=5))
            print(f"\nA: {rag.ask(local_question).text}")
    print(f"\ndone in {time.perf_counter() - started:.0f} s. Go on with, for example:")
    print(f"  .venv/bin/graphrag-dual search 'What does a with statement do?' --explain --home {_HOME}")
    print(f"  .venv/bin/graphrag-dual status --home {_HOME}")
    if settings.neo4j_uri is None:
        print(f"  .venv/bin/graphrag-dual down --home {_HOME}      (stops the server; the data stays)")


def show_index(rag: GraphRAG) -> None:
    """Print versions and counts."""
    status = rag.status()
    print(
        f"Neo4j {status.server.neo4j_version} {status.server.edition}, GDS {status.server.gds_version}, at {status.uri}"
    )
    for what, count in sorted(status.counts.items()):
        print(f"  {what:<28}{count:>7}")


if __name__ == "__main__":
    sys.exit(main())
