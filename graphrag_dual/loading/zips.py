"""Zip files that somebody else made: what may be in them, and how much."""

from __future__ import annotations

import re
import stat
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from graphrag_dual.errors import InputError
from graphrag_dual.loading.decoding import find_encoding
from graphrag_dual.loading.documents import check_size, foreign_parser

__all__ = ["MAX_MEMBERS", "MAX_UNPACKED", "fault_of", "fault_of_name", "named_members", "open_package", "open_zip"]

MAX_MEMBERS = 10_000
"""Most members of one zip file."""

MAX_UNPACKED = 1_000_000_000
"""Most bytes that one file may unfold to, with all that is packed in it."""

_MAX_PACKAGE = 300_000_000  # of an office file, which its parser holds in memory
_MAX_RATIO = 200  # text packs to a tenth, a table of repeats to a hundredth, nothing but zeros to a thousandth
_RATIO_FROM = 5_000_000  # bytes; below this a high ratio does no harm
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # the others unpack in steps that cannot be bounded
_MAX_DIRECTORY = MAX_MEMBERS * 500
_BLOCK = 1_000_000

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q4sLQL")  # with its locator, before the other one, whose numbers it overrules
_COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)|<\0!\0[DE]\0|\0<\0!\0[DE]")
_OVERLAP = 10


@contextmanager
def open_zip(path: Path, *, max_unpacked: int = MAX_UNPACKED) -> Iterator[zipfile.ZipFile]:
    """Open the zip file at ``path`` after its directory was held against the limits; nothing is unpacked yet.

    Raises:
        InputError: it is no zip file, or has too many members, or says itself that it unpacks to too much.
    """
    _check_directory(path)
    with foreign_parser():
        archive = zipfile.ZipFile(path)
    with archive:
        unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > max_unpacked:
            raise InputError(
                f"too large: unpacks to {unpacked / 1e6:.0f} MB, at most {max_unpacked // 1_000_000} MB",
                hint="unpack it and leave out what is not needed",
            )
        yield archive


def _check_directory(path: Path) -> None:
    """Hold the number of members against the limit before ``zipfile`` makes an object of each."""
    size = path.stat().st_size
    if size == 0:
        raise InputError("empty", hint="leave the file out")
    with path.open("rb") as file:
        file.seek(max(0, size - _END_64.size - _END.size - 0xFFFF))
        tail = file.read()
    start = tail.rfind(b"PK\5\6")
    if start < 0 or len(tail) - start < _END.size:
        raise InputError("corrupt: not a zip file, or cut short", hint="repair or leave out the file")
    _, _, _, _, count, directory_bytes, _, _ = _END.unpack_from(tail, start)
    if start >= _END_64.size and tail.startswith(b"PK\6\7", start - 20):
        _, _, _, _, _, _, _, count, directory_bytes, *_ = _END_64.unpack_from(tail, start - _END_64.size)
    if count > MAX_MEMBERS or directory_bytes > _MAX_DIRECTORY:
        raise InputError(f"too many members: at most {MAX_MEMBERS} are read", hint="unpack it and give the folder")


@contextmanager
def open_package(path: Path) -> Iterator[IO[bytes]]:
    """Give a copy of an office file that its parser can trust, as an open file.

    An office file is a zip file of XML.  The copy holds the same members unpacked, each of the size that its directory says:
    so no parser meets a bomb.  Document types, which these formats have no use for and which entity bombs need, are refused.

    Raises:
        InputError: it is encrypted, no zip file, unpacks to too much, or declares entities.
    """
    check_size(path)
    _check_not_compound(path)
    with tempfile.TemporaryFile() as copy:
        with (
            open_zip(path, max_unpacked=_MAX_PACKAGE) as archive,
            foreign_parser(),
            zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as target,
        ):
            for info in archive.infolist():
                name = info.orig_filename
                if fault := fault_of(name, info):
                    raise InputError(f"{fault}: member {name}", hint="leave out the file")
                with archive.open(info) as source, target.open(zipfile.ZipInfo(info.filename), "w") as member:
                    _copy(source, member, name=name)
        copy.seek(0)
        yield copy


def _copy(source: IO[bytes], target: IO[bytes], *, name: str) -> None:
    is_xml = name.lower().endswith((".xml", ".rels", ".vml"))
    before = b""
    while block := source.read(_BLOCK):
        if is_xml and _DECLARATION.search(before + block):
            raise InputError(f"declares XML entities: member {name}", hint="leave out the file")
        before = block[-_OVERLAP:]
        target.write(block)


def _check_not_compound(path: Path) -> None:
    """Office programs wrap an encrypted file into a container of the format that they used before zip."""
    with path.open("rb") as file:
        if file.read(len(_COMPOUND_FILE)) == _COMPOUND_FILE:
            if _ENCRYPTED in file.read():
                raise InputError("encrypted", hint="save a copy without password")
            raise InputError("corrupt: not a zip file but the older format", hint="save it in the newer format")


def named_members(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    """Members in the order of their names, which, unless marked as UTF-8, may be in any encoding, so that it is guessed."""
    raw = {info: info.orig_filename.encode("cp437") for info in archive.infolist() if not _is_marked(info)}
    try:
        encoding = find_encoding(b"\n".join(raw.values()))
    except InputError:
        encoding = "cp437"
    names = {info: name.decode(encoding, errors="replace") for info, name in raw.items()}
    named = [(names.get(info, info.orig_filename), info) for info in archive.infolist()]
    return sorted(named, key=lambda member: member[0])


def _is_marked(info: zipfile.ZipInfo) -> bool:
    return bool(info.flag_bits & 0x800) or info.orig_filename.isascii()


def fault_of(name: str, info: zipfile.ZipInfo) -> str:
    """Why the member ``name`` must not be unpacked, or ``""``."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "link, which could lead out of the archive" if kind == stat.S_IFLNK else "not a regular file"
    if fault := fault_of_name(name):
        return fault
    if info.flag_bits & 0x1:
        return "encrypted"
    if info.compress_type not in _METHODS:
        return f"packed by method {info.compress_type}, which is not read"
    if info.file_size > max(_RATIO_FROM, _MAX_RATIO * info.compress_size):
        return f"unpacks to more than {_MAX_RATIO} times its size"
    return ""


def fault_of_name(name: str) -> str:
    """Why ``name`` must not be the name of a packed file, or ``""``: it could lead out of the folder it is unpacked to."""
    if not name or _CONTROL.search(name):
        return "name with control characters" if name else "no name"
    if "\\" in name:
        return "name with a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "absolute name"
    if ".." in name.split("/"):
        return "name that leads out of the archive"
    return ""
