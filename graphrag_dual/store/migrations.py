"""Numbered schema steps, applied once and recorded with a checksum."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphrag_dual.errors import SchemaMismatch
from graphrag_dual.ids import content_hash
from graphrag_dual.store.database import Database
from graphrag_dual.store.documents import read_unread
from graphrag_dual.store.indexes import VECTOR_INDEXES, create_vector_indexes
from graphrag_dual.store.query_book import Query, cypher_folder, shipped_text, split_statements

__all__ = ["Migration", "migrate", "pending_migrations", "read_migrations"]

_AWAIT_S = 300
_FULLTEXT = re.compile(r"FULLTEXT INDEX (\w+) IF")
_NAME = re.compile(r"V(\d{4})__(\w+)\.cypher")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: schema statements that are safe to run again."""

    version: int
    name: str
    checksum: str
    statements: tuple[Query, ...]

    @property
    def full_name(self) -> str:
        """The name of its file without the ending."""
        return f"V{self.version:04d}__{self.name}"


def read_migrations() -> list[Migration]:
    """All migrations that ship with the package, in order."""
    migrations: list[Migration] = []
    for path in sorted((cypher_folder() / "migrations").glob("*.cypher")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise ValueError(f"{path.name} is not named V0001__name.cypher")
        text = path.read_text(encoding="utf-8")
        statements = tuple(
            Query(f"{path.stem}[{i}]", shipped_text(statement), {}, "auto", "")
            for i, statement in enumerate(split_statements(text))
        )
        migrations.append(Migration(int(match[1]), match[2], content_hash(text), statements))
    return migrations


async def pending_migrations(database: Database) -> list[Migration]:
    """Migrations that the database has not seen.

    Raises:
        SchemaMismatch: an applied migration was edited afterwards, or the database is newer than this package.
    """
    known = {migration.version: migration for migration in read_migrations()}
    applied = await database.read("applied_migrations")
    for row in applied:
        migration = known.get(row["version"])
        if migration is None:
            raise SchemaMismatch(
                f"the database has migration V{row['version']:04d}__{row['name']}, which this package does not know",
                hint="upgrade graphrag-dual",
            )
        if migration.checksum != row["checksum"]:
            raise SchemaMismatch(
                f"migration V{migration.version:04d}__{migration.name} was edited after it had been applied",
                hint="restore the file; put the change into a new migration",
            )
    done = {row["version"] for row in applied}
    return [migration for version, migration in sorted(known.items()) if version not in done]


async def migrate(database: Database) -> list[str]:
    """Apply what is pending, make indexes again that somebody dropped, and finish what a step left to Python.

    Gives the names of the migrations and of the indexes.  Two processes may do so at once: every statement changes nothing
    the second time.
    """
    pending = await pending_migrations(database)
    for migration in pending:
        for statement in migration.statements:
            await database.schema(statement)
        await database.write(
            "record_migration", version=migration.version, name=migration.name, checksum=migration.checksum
        )
    restored = await _restore_indexes(database)
    if pending or restored:
        await database.read("await_indexes", timeout_s=_AWAIT_S)
    await read_unread(database)
    return [*(one.full_name for one in pending), *restored]


async def _restore_indexes(database: Database) -> list[str]:
    """Make the full-text indexes that are missing, and the vector indexes where a workspace has vectors; their names."""
    there = {row["name"] for row in await database.read("show_indexes")}
    restored: list[str] = []
    for migration in read_migrations():
        for statement in migration.statements:
            if (match := _FULLTEXT.search(statement.text)) and match[1] not in there:
                await database.schema(statement)
                restored.append(match[1])
    if not there.issuperset(VECTOR_INDEXES) and (bound := await database.read("bound_workspaces")):
        await create_vector_indexes(database, bound[0]["dimensions"])
        restored += sorted(set(VECTOR_INDEXES) - there)
    return restored
