"""Neo4j: the only place that knows the driver.  Queries are named and live in ``cypher/queries``."""

from __future__ import annotations

from graphrag_dual.store.database import Database, ServerInfo, admin_book, query_book
from graphrag_dual.store.indexes import IndexState, check_embedder, ensure_indexes, read_index_state
from graphrag_dual.store.migrations import migrate, pending_migrations
from graphrag_dual.store.query_book import Query, QueryBook

__all__ = [
    "Database",
    "IndexState",
    "Query",
    "QueryBook",
    "ServerInfo",
    "admin_book",
    "check_embedder",
    "ensure_indexes",
    "migrate",
    "pending_migrations",
    "query_book",
    "read_index_state",
]
