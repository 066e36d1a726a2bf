from __future__ import annotations

import time
from pathlib import Path

import pytest
from packed_files import documents_in

from graphrag_dual.model import Document

GUIDE = """
Guide
=====

Some *words* on :ref:`the setup <setup>`, ``code`` and :func:`~package.run`.

Install
-------

- one

  - deeper
- two

.. list-table::

   * - a
     - b
   * - 1
     - 2

.. code-block:: python

   run()

.. note:: Mind the gap.

.. versionadded:: 3.1
   New *things*.

Notes
=====

last words
"""


def rst(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "docs" / "guide.rst"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return documents_in(path)["docs/guide.rst"]


def test_sections_become_headings_and_structure_stays(tmp_path: Path) -> None:
    document = rst(tmp_path, GUIDE)
    assert document.title == "Guide"
    assert document.text == (
        "# Guide\n\nSome words on the setup, `code` and run.\n\n## Install\n\n- one\n\n  - deeper\n- two\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nrun()\n```\n\nNote: Mind the gap.\n\n3.1\n\nNew things.\n\n"
        "# Notes\n\nlast words"
    )


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {0}",
        ".. literalinclude:: {0}",
        ".. csv-table::\n   :file: {0}",
        ".. raw:: html\n   :file: {0}",
        ".. raw:: html\n\n   canary",
        ".. include:: {0}\n   :literal:",
    ],
)
def test_no_directive_brings_in_another_file_or_raw_text(tmp_path: Path, directive: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary", encoding="utf-8")
    assert "canary" not in rst(tmp_path, f"words\n\n{directive.format(secret)}\n").text


def test_substitutions_that_double_one_another_are_not_unfolded(tmp_path: Path) -> None:
    chain = "".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|\n" for n in range(40))
    assert len(rst(tmp_path, f"words |a0|\n\n{chain}\n.. |a40| replace:: x\n").text) < 1000


def test_text_that_is_no_rst_stands_as_it_is(tmp_path: Path) -> None:
    assert rst(tmp_path, "x" * 20_000).text == "x" * 20_000
    assert "kept" in rst(tmp_path, "====\nkept\n===\n").text


def test_the_date_of_today_is_not_part_of_a_document(tmp_path: Path) -> None:
    assert rst(tmp_path, "on |today|\n\n.. |today| date::\n").text == "on today"


def test_marks_that_nothing_closes_do_not_take_for_ever(tmp_path: Path) -> None:
    text = "\n".join("*a " * 3000 for _ in range(30))
    started = time.process_time()
    assert rst(tmp_path, text).text == text
    assert time.process_time() - started < 2
