from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.errors import TooManyDeletes
from graphrag_dual.ids import content_hash
from graphrag_dual.indexing.syncing import (
    Duplicate,
    Listing,
    Rename,
    SyncPlan,
    check_deletes,
    list_sources,
    make_plan,
)
from graphrag_dual.loading import make_document
from graphrag_dual.model import SourceProblem
from graphrag_dual.store.lifecycle import StoredHash

WORKSPACE = "w"


def listing(texts: Mapping[str, str], *unread: str) -> Listing:
    documents = [make_document(text, workspace=WORKSPACE, uri=uri) for uri, text in texts.items()]
    problems = [SourceProblem(uri, "empty") for uri in unread]
    return list_sources([*documents, *problems], folders=["docs/"])


def stored(texts: Mapping[str, str], *, unfinished: str = "") -> list[StoredHash]:
    documents = [make_document(text, workspace=WORKSPACE, uri=uri) for uri, text in texts.items()]
    return [
        StoredHash(one.id, one.uri, one.content_hash, content_hash(one.text), one.uri == unfinished)
        for one in documents
    ]


def test_each_document_is_in_one_part_of_the_plan() -> None:
    plan = make_plan(
        listing({"docs/same.md": "same", "docs/new.md": "new", "docs/edited.md": "after"}),
        stored({"docs/same.md": "same", "docs/edited.md": "before", "docs/gone.md": "gone"}),
    )

    assert (plan.add, plan.change, plan.delete) == (("docs/new.md",), ("docs/edited.md",), ("docs/gone.md",))
    assert (plan.unchanged, plan.stored, plan.rename, plan.duplicate) == (1, 3, (), ())
    assert plan.to_read == {"docs/new.md", "docs/edited.md"}


def test_a_renamed_file_is_one_rename_and_no_deletion() -> None:
    plan = make_plan(listing({"docs/b.md": "text"}), stored({"docs/a.md": "text"}))

    assert plan.rename == (Rename("docs/a.md", "docs/b.md"),)
    assert (plan.add, plan.delete, plan.delete_share) == ((), (), 0.0)
    assert plan.to_read == {"docs/b.md"}


def test_a_moved_file_keeps_its_name_where_two_have_its_text() -> None:
    plan = make_plan(
        listing({"docs/new/x.md": "text", "docs/new/y.md": "text"}), stored({"docs/y.md": "text", "docs/x.md": "text"})
    )

    assert plan.rename == (Rename("docs/x.md", "docs/new/x.md"), Rename("docs/y.md", "docs/new/y.md"))


def test_a_document_of_an_older_version_without_a_hash_of_its_text_is_no_rename_of_anything() -> None:
    [old] = stored({"docs/a.md": "text"})
    plan = make_plan(listing({"docs/b.md": "text"}), [StoredHash(old.id, old.uri, old.content_hash, "", False)])

    assert (plan.rename, plan.add, plan.delete) == ((), ("docs/b.md",), ("docs/a.md",))


def test_a_copy_is_added_and_named_beside_what_it_is_a_copy_of() -> None:
    plan = make_plan(
        listing({"docs/copy.md": "text", "docs/first.md": "text", "docs/x.md": "other", "docs/y.md": "other"}),
        stored({"docs/first.md": "text"}),
        twins={content_hash("other"): ["mail/z.md"]},
    )

    assert plan.add == ("docs/copy.md", "docs/x.md", "docs/y.md")
    assert plan.duplicate == (
        Duplicate("docs/copy.md", "docs/first.md"),
        Duplicate("docs/x.md", "mail/z.md"),
        Duplicate("docs/y.md", "mail/z.md"),
    )


@pytest.mark.parametrize(
    ("unread", "uri"),
    [
        ("docs/a.pdf", "docs/a.pdf"),
        ("docs/table.csv", "docs/table.csv#7"),
        ("docs/sealed", "docs/sealed/deep/a.md"),
        ("docs/all.zip", "docs/all.zip/a.md"),
    ],
)
def test_what_is_there_but_cannot_be_read_is_kept(unread: str, uri: str) -> None:
    plan = make_plan(listing({}, unread), stored({uri: "text"}))

    assert (plan.kept, plan.delete, plan.rename) == ((uri,), (), ())
    assert [problem.uri for problem in plan.unreadable] == [unread]


def test_a_file_that_begins_like_an_unreadable_one_is_not_kept_for_it() -> None:
    plan = make_plan(listing({}, "docs/a"), stored({"docs/a.md": "text"}))

    assert (plan.kept, plan.delete) == ((), ("docs/a.md",))


def test_an_unreadable_file_is_never_the_source_of_a_rename() -> None:
    plan = make_plan(listing({"docs/b.md": "text"}, "docs/a.md"), stored({"docs/a.md": "text"}))

    assert (plan.add, plan.rename, plan.kept) == (("docs/b.md",), (), ("docs/a.md",))


def test_rows_with_an_id_of_their_own_are_compared_and_counted() -> None:
    plan = make_plan(
        listing({"row-1": "same", "row-2": "after", "row-3": "new"}),
        [],
        elsewhere=stored({"row-1": "same", "row-2": "before"}),
    )

    assert (plan.add, plan.change, plan.unchanged, plan.elsewhere) == (("row-3",), ("row-2",), 1, 3)


def test_unchanged_documents_with_failed_chunks_are_read_again() -> None:
    texts = {"docs/a.md": "a", "docs/b.md": "b"}
    plan = make_plan(listing(texts), stored(texts, unfinished="docs/b.md"))

    assert (plan.unfinished, plan.unchanged) == (("docs/b.md",), 2)
    assert plan.to_read == {"docs/b.md"}


def test_an_unmounted_folder_is_refused() -> None:
    plan = make_plan(listing({}), stored({f"docs/{n}.md": str(n) for n in range(4)}))

    with pytest.raises(TooManyDeletes, match=r"4 of 4 documents of docs/ .* more than 50%; nothing was written"):
        check_deletes(plan, max_share=0.5)
    check_deletes(plan, max_share=1.0)


def test_a_share_that_is_just_allowed_is_allowed() -> None:
    plan = make_plan(listing({"docs/0.md": "0", "docs/1.md": "1"}), stored({f"docs/{n}.md": str(n) for n in range(4)}))

    check_deletes(plan, max_share=0.5)
    with pytest.raises(TooManyDeletes):
        check_deletes(plan, max_share=0.49)


def test_a_run_that_was_killed_between_adding_and_deleting_renamed_files_is_not_refused_the_next_time() -> None:
    texts = {f"docs/new/{n}.md": str(n) for n in range(4)}
    old = {f"docs/{n}.md": str(n) for n in range(4)}
    plan = make_plan(listing(texts), stored({**old, **texts}))

    assert plan.delete == tuple(sorted(old))
    check_deletes(plan, max_share=0)


TEXTS = st.dictionaries(st.sampled_from([f"docs/{name}.md" for name in "abcdef"]), st.sampled_from(["x", "y", "z"]))


@given(TEXTS, TEXTS, st.randoms())
def test_a_plan_ends_in_what_the_folder_holds_whatever_the_order(
    now: dict[str, str], before: dict[str, str], random: object
) -> None:
    shuffled = list(now)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a Random
    plan = make_plan(listing(now), stored(before))
    again = make_plan(listing({uri: now[uri] for uri in shuffled}), stored(dict(reversed(before.items()))))

    after = {**before, **{uri: now[uri] for uri in plan.to_read}}
    for uri in [*plan.delete, *(rename.old for rename in plan.rename)]:
        del after[uri]
    assert after == now
    assert again == plan
    touched = [
        *plan.add,
        *plan.change,
        *plan.delete,
        *(one.new for one in plan.rename),
        *(one.old for one in plan.rename),
    ]
    assert len(touched) == len(set(touched))


@given(TEXTS)
def test_a_folder_that_did_not_change_is_an_empty_plan(texts: dict[str, str]) -> None:
    plan = make_plan(listing(texts), stored(texts))

    assert plan == SyncPlan(folders=("docs/",), unchanged=len(texts), stored=len(texts))
