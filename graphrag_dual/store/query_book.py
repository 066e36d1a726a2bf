"""Named Cypher, loaded from files: nothing in this package ever builds a query from text.

The grammar of a query file is in ``cypher/README.md``.  Arguments are checked against the declared types before they are
sent, so that a wrong call fails here with the query's name and not on the server with a stack trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, LiteralString, cast

__all__ = ["Mode", "Query", "QueryBook", "cypher_folder", "parse_queries", "shipped_text", "split_statements"]

Mode = Literal["read", "write", "auto"]

_HEADER = re.compile(r"^// name: (?P<name>\w+)\((?P<parameters>[^)]*)\) (?P<mode>read|write|auto)$", re.MULTILINE)
_HEADER_START = re.compile(r"^//\s*name\s*:", re.MULTILINE)
_USED = re.compile(r"\$(\w+)")
_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|;", re.DOTALL)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "STRING": (str,),
    "INTEGER": (int,),
    "FLOAT": (float, int),
    "BOOLEAN": (bool,),
    "MAP": (dict,),
}


@dataclass(frozen=True, slots=True)
class Query:
    """One named query: its text, its typed parameters, its mode and its sentence."""

    name: str
    text: LiteralString
    parameters: Mapping[str, str]
    mode: Mode
    doc: str

    def check(self, arguments: Mapping[str, object]) -> None:
        """Raise TypeError unless ``arguments`` are exactly the declared parameters in their declared types."""
        if arguments.keys() != self.parameters.keys():
            raise TypeError(f"{self.name} takes {sorted(self.parameters)}, got {sorted(arguments)}")
        for parameter, declared in self.parameters.items():
            if not _fits(arguments[parameter], declared):
                got = type(arguments[parameter]).__name__
                raise TypeError(f"{self.name}: parameter {parameter} is declared {declared}, got {got}")


def _fits(value: object, declared: str) -> bool:
    if declared.startswith("LIST<"):
        # Elements are not walked: a vector has hundreds, a batch thousands, and the server checks them anyway.
        return isinstance(value, list | tuple)
    if isinstance(value, bool) and declared != "BOOLEAN":
        return False
    return isinstance(value, _TYPES[declared])


class QueryBook(Mapping[str, Query]):
    """All queries below ``folder``, by name."""

    def __init__(self, folder: Path) -> None:
        self._queries: dict[str, Query] = {}
        for path in sorted(folder.glob("*.cypher")):
            for query in parse_queries(path.read_text(encoding="utf-8"), origin=path.name):
                if query.name in self._queries:
                    raise ValueError(f"{path.name}: a second query is named {query.name}")
                self._queries[query.name] = query

    def __getitem__(self, name: str) -> Query:
        return self._queries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def parse_queries(text: str, *, origin: str) -> Iterator[Query]:
    """Parse the queries of one file; ValueError names the file, the query and what is wrong with it."""
    headers = list(_HEADER.finditer(text))
    if len(headers) != len(_HEADER_START.findall(text)) or not headers:
        raise ValueError(f"{origin}: no query header, or one that is not `// name: NAME(PARAMETERS) read|write|auto`")
    ends = [header.start() for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        yield _parse_query(header, text[header.end() : end], origin=origin)


def _parse_query(header: re.Match[str], block: str, *, origin: str) -> Query:
    name = header["name"]
    lines = block.strip("\n").split("\n")
    doc_lines = [line for line in lines if line.startswith("//")]
    statements = split_statements(block)
    if len(statements) != 1 or not _without_comments_and_strings(block).rstrip().endswith(";"):
        raise ValueError(f"{origin}: {name} must be one statement that ends with a semicolon")
    parameters = dict(
        _parse_parameter(part, where=f"{origin}: {name}") for part in _split_parameters(header["parameters"])
    )
    used = set(_USED.findall(_without_comments_and_strings(statements[0])))
    if used != parameters.keys():
        raise ValueError(f"{origin}: {name} declares {sorted(parameters)} but uses {sorted(used)}")
    if not doc_lines:
        raise ValueError(f"{origin}: {name} has no sentence that says what it is for")
    doc = " ".join(line.removeprefix("//").strip() for line in doc_lines)
    return Query(name, shipped_text(statements[0]), parameters, cast(Mode, header["mode"]), doc)


def shipped_text(text: str) -> LiteralString:
    """Vouch that ``text`` was read from a file that ships with the package, never made from what a caller gave."""
    return text  # pyright: ignore[reportReturnType]  # the one place where a query text becomes one for the driver


def _split_parameters(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _parse_parameter(part: str, *, where: str) -> tuple[str, str]:
    name, _, declared = part.partition(":")
    declared = declared.strip()
    inner = re.fullmatch(r"LIST<(\w+)>", declared)
    if (inner[1] if inner else declared) not in _TYPES:
        raise ValueError(f"{where}: parameter {part!r} has no known type")
    return name.strip(), declared


def _without_comments_and_strings(text: str) -> str:
    return _TOKEN.sub(lambda match: match[0] if match[0] == ";" else " ", text)


def split_statements(text: str) -> list[str]:
    """Split Cypher at semicolons outside strings, back-ticks and comments; comment lines are dropped from the front."""
    statements: list[str] = []
    start = 0
    for match in _TOKEN.finditer(text):
        if match[0] == ";":
            statements.append(text[start : match.start()])
            start = match.end()
    if _without_comments_and_strings(text[start:]).strip():
        statements.append(text[start:])
    return [_without_leading_comments(statement) for statement in statements]


def _without_leading_comments(statement: str) -> str:
    lines = statement.strip().split("\n")
    while lines and (not lines[0].strip() or lines[0].lstrip().startswith("//")):
        lines.pop(0)
    return "\n".join(lines).strip()


@cache
def cypher_folder() -> Path:
    """Folder of all Cypher: inside an installed wheel, else beside the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_cypher"
    return packaged if packaged.is_dir() else package.parent / "cypher"
