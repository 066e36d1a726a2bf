from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphrag_dual.errors import InputError
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
