from __future__ import annotations

import io
import string
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_files import documents_in, docx_bytes, problems_in, xlsx_bytes, zip_bytes

from graphrag_dual.loading import opening as opening_module
from graphrag_dual.loading.zips import fault_of_name


def saved(tmp_path: Path, data: bytes, name: str = "a.zip") -> Path:
    path = tmp_path / "docs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def bomb(*, unpacked: int, members: int) -> bytes:
    """A zip file whose directory names one small packed piece of zeros again and again."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeeze.compress(bytes(unpacked)) + squeeze.flush()
    about = (0, 8, 0, 33, zlib.crc32(bytes(unpacked)), len(packed), unpacked)
    body = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, *about, 5, 0) + b"a.txt" + packed
    entries = b"".join(
        struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, *about, 9, 0, 0, 0, 0, 0, 0) + b"%05d.txt" % number
        for number in range(members)
    )
    return body + entries + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, members, members, len(entries), len(body), 0)


def test_members_are_loaded_by_the_loaders_of_their_formats(tmp_path: Path) -> None:
    packed: dict[str, str | bytes] = {
        "guide/a.md": "# Start\n\nwords",
        "b.docx": docx_bytes(),
        "t.xlsx": xlsx_bytes({"s": [["text"], ["row"]]}),
        "c.jsonl": '{"id": "own", "text": "x"}\n{"text": "y"}',
        ".git/config.txt": "hidden",
        "__MACOSX/a.md": "hidden",
    }
    found = documents_in(saved(tmp_path, zip_bytes(packed)))
    assert list(found) == [
        *("docs/a.zip/b.docx", "own", "docs/a.zip/c.jsonl#2", "docs/a.zip/guide/a.md", "docs/a.zip/t.xlsx#s#1")
    ]
    assert [document.title for document in found.values()][3] == "Start"


def test_a_bad_member_costs_only_itself(tmp_path: Path) -> None:
    path = saved(tmp_path, zip_bytes({"a.txt": "", "b.pdf": "%PDF-1.4 torn", "c.png": "?", "d.md": "words"}))
    assert list(documents_in(path)) == ["docs/a.zip/d.md"]
    assert list(problems_in(path)) == ["docs/a.zip/a.txt", "docs/a.zip/b.pdf", "docs/a.zip/c.png"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../x.md", "name that leads out of the archive"),
        ("a/../../x.md", "name that leads out of the archive"),
        ("/etc/x.md", "absolute name"),
        ("C:/x.md", "absolute name"),
        ("c:x.md", "absolute name"),
        ("..\\x.md", "name with a backslash"),
        ("a\nb.md", "name with control characters"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_and_the_others_are_read(tmp_path: Path, name: str, reason: str) -> None:
    path = saved(tmp_path, zip_bytes({name: "evil", "good.md": "words"}))
    assert list(documents_in(path)) == ["docs/a.zip/good.md"]
    assert list(problems_in(path).values()) == [reason]
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.zip", "docs"]


@given(st.text(st.sampled_from("./\\:aZ\0 " + string.digits), max_size=12))
def test_a_name_without_fault_stays_in_any_folder_it_is_unpacked_to(name: str) -> None:
    if fault_of_name(name):
        return
    parts = PurePosixPath("/root", name).parts
    assert parts[:2] == ("/", "root")
    assert ".." not in parts
    assert "\\" not in name
    assert name[1:2] != ":" or not name[0].isalpha()


@given(st.lists(st.text(string.ascii_letters + "äß企 -_", min_size=1, max_size=8), min_size=1, max_size=4))
def test_an_ordinary_name_has_no_fault(parts: list[str]) -> None:
    assert fault_of_name("/".join([*parts, "a.md"])) == ""


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        link = zipfile.ZipInfo("passwd.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    path = saved(tmp_path, file.getvalue())
    assert problems_in(path) == {"docs/a.zip/passwd.txt": "link, which could lead out of the archive"}


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.pptx", "a.xlsx", "a.ods"])
def test_a_small_file_that_unpacks_to_20_gb_is_refused_unread(tmp_path: Path, name: str) -> None:
    (reason,) = problems_in(saved(tmp_path, bomb(unpacked=20_000_000, members=1000), name)).values()
    assert reason.startswith("too large: unpacks to 20000 MB, at most ")


def test_a_member_of_nothing_but_zeros_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, zip_bytes({"a.txt": bytes(9_000_000), "b.txt": "words"}))
    assert problems_in(path) == {"docs/a.zip/a.txt": "unpacks to more than 200 times its size"}
    assert list(documents_in(path)) == ["docs/a.zip/b.txt"]


def test_too_many_members_are_refused_before_any_is_looked_at(tmp_path: Path) -> None:
    (reason,) = problems_in(saved(tmp_path, zip_bytes(dict.fromkeys(map(str, range(10_001)), "x")))).values()
    assert reason == "too many members: at most 10000 are read"


def test_too_many_members_that_only_the_larger_directory_record_tells_of_are_refused(tmp_path: Path) -> None:
    data = zip_bytes(dict.fromkeys(map(str, range(10_001)), "x"))
    body, end = data[:-22], data[-22:]
    _, _, _, _, count, size, start, _ = struct.unpack("<4s4H2LH", end)
    larger = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(body), 1)
    small = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 46, start, 0)
    path = saved(tmp_path, body + larger + locator + small)
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 10_001  # what would be read but for the limit

    assert list(problems_in(path).values()) == ["too many members: at most 10000 are read"]


def test_archives_may_be_packed_two_deep_and_no_deeper(tmp_path: Path) -> None:
    third = zip_bytes({"c.txt": "third"})
    second = zip_bytes({"b.txt": "second", "third.zip": third})
    path = saved(tmp_path, zip_bytes({"a.txt": "first", "second.zip": second}))
    assert list(documents_in(path)) == ["docs/a.zip/a.txt", "docs/a.zip/second.zip/b.txt"]
    assert problems_in(path) == {"docs/a.zip/second.zip/third.zip": "packed more than 2 containers deep"}


def test_all_that_is_packed_in_a_file_shares_one_allowance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_module._Allowance, "__init__", _small_allowance)
    inner = zip_bytes({f"{number}.txt": "words " * 50 for number in range(10)})
    path = saved(tmp_path, zip_bytes({f"{number}.zip": inner for number in range(10)}))
    assert len(documents_in(path)) < 20
    assert any(reason.startswith("too large") for reason in problems_in(path).values())


def _small_allowance(allowance: opening_module._Allowance) -> None:
    allowance.members, allowance.unpacked = 1000, 5000


def test_an_encrypted_member_and_an_unknown_method_are_named(tmp_path: Path) -> None:
    plain = zip_bytes({"a.txt": "words"})
    flags = plain.rindex(b"PK\1\2") + 8
    locked = plain[:flags] + b"\1" + plain[flags + 1 :]
    assert list(problems_in(saved(tmp_path, locked)).values()) == ["encrypted"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.txt", "words")
    assert list(problems_in(saved(tmp_path, file.getvalue())).values()) == ["packed by method 12, which is not read"]


def test_names_in_another_encoding_are_read(tmp_path: Path) -> None:
    names = ["企业投资也获得增加", "重要因素和经济活动"]
    data = zip_bytes({f"{'X' * 17}{number}.txt": "words" for number in range(2)})
    for number, name in enumerate(names):
        data = data.replace(b"X" * 17 + b"%d" % number, name.encode("gbk"))
    assert sorted(documents_in(saved(tmp_path, data))) == sorted(f"docs/a.zip/{name}.txt" for name in names)


def test_a_torn_archive_is_corrupt_and_an_empty_one_empty(tmp_path: Path) -> None:
    whole = zip_bytes({"a.txt": "words"})
    assert problems_in(saved(tmp_path, whole[:40])) == {"docs/a.zip": "corrupt: not a zip file, or cut short"}
    assert problems_in(saved(tmp_path, b"")) == {"docs/a.zip": "empty"}
    damaged = whole.replace(b"PK\3\4", b"PK\0\0")
    assert [reason.split(":")[0] for reason in problems_in(saved(tmp_path, damaged)).values()] == ["corrupt"]
