from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphrag_dual.errors import InputError, UsageError
from graphrag_dual.loading import Source, SourceProblem, discover, iter_documents
from graphrag_dual.loading.discovery import readable_name
from graphrag_dual.model import Document


def write(path: Path, text: str = "Some words.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def uris(*paths: Path) -> list[str]:
    return [source.uri for source in discover(paths)]


def documents(*paths: Path) -> list[Document]:
    return [item for item in iter_documents(paths, workspace="w") if isinstance(item, Document)]


def test_a_folder_gives_its_files_sorted_and_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/b/c.txt", ".hidden.md", ".git/config.txt"):
        write(tmp_path / "docs" / name)
    assert uris(tmp_path / "docs") == ["docs/a/b/c.txt", "docs/a/z.md", "docs/b.md"]


def test_two_readmes_in_two_folders_are_two_documents(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one" / "readme.md", "First."), write(tmp_path / "two" / "readme.md", "Second.")
    assert len({document.id for document in documents(one, two)}) == 2


def test_ids_do_not_depend_on_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs" / "guide" / "a.md")
    before = [document.id for document in documents(tmp_path / "docs")]
    monkeypatch.chdir(tmp_path / "docs")
    assert [document.id for document in documents(Path())] == before
    monkeypatch.chdir(tmp_path / "docs" / "guide")
    assert [document.id for document in documents(Path(".."))] == before


def test_a_file_by_itself_is_the_same_document_as_in_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "docs" / "a.md")
    assert documents(path) == documents(path.parent)
    assert uris(path, path.parent, path) == ["docs/a.md"]


def test_a_second_file_with_the_same_uri_is_a_problem_and_not_an_overwrite(tmp_path: Path) -> None:
    paths = [write(tmp_path / side / "docs" / "a.md", side) for side in ("left", "right")]
    loaded = list(iter_documents(paths, workspace="w"))
    assert isinstance(loaded[0], Document)
    assert loaded[0].text == "left"
    assert loaded[1] == SourceProblem("docs/a.md", "another document of this call has the same uri")


def test_a_missing_path_is_an_error_before_the_first_document(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere does not exist -> give"):
        iter_documents([write(tmp_path / "a.md"), tmp_path / "nowhere"], workspace="w")


def test_links_that_leave_the_folder_are_refused(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret" / "key.txt")
    inside = write(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "link.txt").symlink_to(secret)
    (tmp_path / "docs" / "linked").symlink_to(secret.parent)
    (tmp_path / "docs" / "same.md").symlink_to(inside)
    (tmp_path / "docs" / "loop").symlink_to(tmp_path / "docs")
    reason = "link that leads out of the folder"
    assert discover([tmp_path / "docs"]) == [
        Source(inside, "docs/a.md"),
        SourceProblem("docs/link.txt", reason),
        SourceProblem("docs/linked", reason),
        Source(tmp_path / "docs" / "same.md", "docs/same.md"),
    ]


def test_a_pipe_is_a_problem_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert [item.reason for item in discover([tmp_path]) if isinstance(item, SourceProblem)] == ["not a regular file"]


def test_a_broken_link_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "gone.txt").symlink_to(tmp_path / "never.txt")
    assert [item.reason for item in discover([tmp_path]) if isinstance(item, SourceProblem)] == ["not a regular file"]


def test_an_unknown_format_is_a_problem_in_a_folder_and_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "docs" / "a.XYZ")
    expected = [SourceProblem("docs/a.XYZ", "unsupported format .xyz")]
    assert list(iter_documents([path], workspace="w")) == list(iter_documents([path.parent], workspace="w")) == expected


def test_a_name_with_undecodable_bytes_and_a_decomposed_name_are_shown_in_one_safe_form() -> None:
    assert readable_name(os.fsdecode(b"a\xff.md")) == "a\\xff.md"
    assert readable_name("cafe\u0301.md") == "caf\u00e9.md"


def below(tmp_path: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    found = iter_documents([tmp_path / "docs"], workspace="w", include=include, exclude=exclude)
    return [item.uri.removeprefix("docs/") for item in found]


def test_patterns_choose_among_the_files_of_a_folder_as_in_a_gitignore(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "drafts/c.md", "guide/d.md", "guide/drafts/e.md", ".hidden.md"):
        write(tmp_path / "docs" / name)
    assert below(tmp_path, include=["*.md"]) == ["a.md", "drafts/c.md", "guide/d.md", "guide/drafts/e.md"]
    assert below(tmp_path, exclude=["drafts/"]) == ["a.md", "b.txt", "guide/d.md"]
    assert below(tmp_path, exclude=["/drafts/"]) == ["a.md", "b.txt", "guide/d.md", "guide/drafts/e.md"]
    assert below(tmp_path, include=["guide/"], exclude=["*.md", "!d.md"]) == ["guide/d.md"]
    assert below(tmp_path, include=["*"]) == below(tmp_path)


def test_an_excluded_folder_is_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "out").mkdir()
    (tmp_path / "docs" / "out" / "link.md").symlink_to("/etc/passwd")
    assert below(tmp_path, exclude=["out/"]) == ["a.md"]


def test_a_file_given_by_name_needs_no_pattern(tmp_path: Path) -> None:
    path = write(tmp_path / "docs" / "a.md")
    assert len(list(iter_documents([path], workspace="w", include=["*.txt"], exclude=["*"]))) == 1


def test_a_pattern_that_is_none_is_an_error_before_the_first_document(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"as in a \.gitignore file"):
        iter_documents([write(tmp_path / "a.md")], workspace="w", include=["!"])


@pytest.mark.parametrize(
    "address",
    ["http://169.254.169.254/latest", "https://example.org/a.md", "file:///etc/hosts", "ftp://x/y", "s3://bucket/key"],
)
def test_an_address_is_refused_and_nothing_is_fetched(address: str) -> None:
    with pytest.raises(InputError, match=r"is an address, and only files are read -> download it"):
        discover([Path(address)])


def test_a_link_to_a_file_of_the_system_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md")
    (tmp_path / "docs" / "users.txt").symlink_to("/etc/passwd")
    items = list(iter_documents([tmp_path / "docs"], workspace="w"))
    assert items[1] == SourceProblem("docs/users.txt", "link that leads out of the folder")
    assert len(items) == 2


def test_a_source_id_that_looks_like_a_path_stays_an_id(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "c.jsonl", '{"id": "/../../tmp/succ", "text": "words"}')
    (document,) = documents(tmp_path / "docs")
    assert document.uri == "/../../tmp/succ"
    assert document.text == "words"


def test_the_same_bytes_under_two_names_and_a_renamed_file_are_documents_of_their_own(tmp_path: Path) -> None:
    one, two = write(tmp_path / "docs" / "a.md", "# T\n\nsame"), write(tmp_path / "docs" / "b.md", "# T\n\nsame")
    first, second = documents(one, two)
    assert first.id != second.id
    assert (first.text, first.content_hash) == (second.text, second.content_hash)
    two.unlink()
    (renamed,) = documents(one.rename(tmp_path / "docs" / "c.md"))
    assert (renamed.uri, renamed.content_hash) == ("docs/c.md", first.content_hash)


@pytest.mark.parametrize(
    "name",
    [
        "back\\slash.md",
        "with blanks .md",
        "中文/文件.md",
        "dot./trailing.md",
        "deep/" + "/".join(["long name" * 4] * 12) + "/a.md",
    ],
)
def test_unusual_names_are_found_and_stored_in_one_form(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "docs" / name)
    (document,) = documents(tmp_path / "docs")
    assert document.uri == f"docs/{name}"
    assert documents(path)[0].text == document.text


def test_a_name_with_control_characters_is_shown_in_one_line(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a\nb\x1b[1m.md")
    assert [document.uri for document in documents(tmp_path / "docs")] == ["docs/a\\x0ab\\x1b[1m.md"]


def test_a_file_named_in_no_encoding_is_titled_by_its_shown_name(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/docs/caf\xe9_\xff.txt"))
    path.parent.mkdir()
    path.write_bytes(b"Ada \xed\xa0\xbd a\x00b\x01\x1f met Babbage.")
    (document,) = documents(path.parent)
    assert (document.uri, document.title) == ("docs/caf\\xe9_\\xff.txt", "caf\\xe9_\\xff")
    assert document.text == "Ada \ufffd ab met Babbage."
