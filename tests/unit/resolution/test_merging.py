from __future__ import annotations

import time
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.ids import normalise_name
from graphrag_dual.resolution.keys import acronym_of, initials_of, name_key
from graphrag_dual.resolution.merging import Decision, Identity, MentionEvidence, NameEvidence, identify


def named(
    spelling: str,
    *documents: str,
    type: str = "",
    description: str = "",
    alias_of: tuple[str, ...] = (),
    spellings: tuple[str, ...] = (),
) -> NameEvidence:
    """One name with a mention in one chunk of each document."""
    mentions = tuple(
        MentionEvidence(f"{document}#{normalise_name(spelling)}", document, type, description, alias_of)
        for document in documents or ("d",)
    )
    return NameEvidence(normalise_name(spelling), spellings or (spelling,), mentions)


def groups(*evidence: NameEvidence, decisions: tuple[Decision, ...] = ()) -> list[tuple[str, ...]]:
    return [identity.names for identity in identify(evidence, decisions)]


def are_one(*evidence: NameEvidence) -> bool:
    return len(groups(*evidence)) == 1


def test_a_name_without_a_partner_is_its_own_identity() -> None:
    assert identify([named("Kestrel", "d1", "d2")]) == [
        Identity(("kestrel",), "kestrel", "", frozenset({("kestrel", "d1#kestrel"), ("kestrel", "d2#kestrel")}))
    ]


# FC-19
def test_invisible_differences_make_no_second_entity() -> None:
    forms = [
        "Kestrel Ltd",
        '"Kestrel Ltd "',
        "“Kestrel Ltd”",
        "Ｋｅｓｔｒｅｌ Ｌｔｄ",
        "Kestrel\nLtd",
        "Kestrel\u200bLtd",
    ]
    names = sorted({normalise_name(form) for form in forms})
    assert groups(*(named(name) for name in names)) == [tuple(names)]
    others = ["O'Hara & Sons", "👩‍🔬 Lab", "شركة النور"]
    assert len(groups(*(named(name) for name in others))) == 3


# FC-23, what must merge
@pytest.mark.parametrize(
    "spellings",
    [("System Admin", "SystemAdmin"), ("turbine", "turbines"), ("Acme Corp.", "Acme Corporation", "Acme Inc")],
)
def test_spellings_in_unlike_documents_are_one_entity(spellings: tuple[str, ...]) -> None:
    (identity,) = identify([named(spelling, f"d{number}") for number, spelling in enumerate(spellings)])
    assert len(identity.names) == len(identity.merges) + 1 == len(spellings)
    assert all(merge.reason and 0.8 <= merge.score <= 1 for merge in identity.merges)


def test_an_acronym_in_four_documents_is_one_entity_whatever_they_say_of_it() -> None:
    contexts = ["an agency", "a port authority", "a law", "a data set"]
    mentions = tuple(MentionEvidence(f"c{n}", f"d{n}", "ORG", text) for n, text in enumerate(contexts))
    (identity,) = identify([NameEvidence("dgia", ("DGIA",), mentions)])
    assert len(identity.mentions) == 4


# FC-23, what must not
def test_a_fruit_and_a_firm_of_one_name_stay_two() -> None:
    mentions = (
        MentionEvidence("c1", "d1", "FRUIT"),
        MentionEvidence("c2", "d1"),
        MentionEvidence("c3", "d2", "COMPANY"),
        MentionEvidence("c4", "d2"),
        MentionEvidence("c5", "d2", "PRODUCT"),
        MentionEvidence("c6", "d3"),
    )
    firm, fruit = identify([NameEvidence("apple", ("Apple",), mentions)])
    assert (firm.sense, fruit.sense) == ("", "natural kind")
    assert {chunk for _, chunk in fruit.mentions} == {"c1", "c2"}  # and the rest, on a tie, is of the firm


def test_descriptions_tell_a_fruit_from_a_firm_where_types_do_not() -> None:
    fruit = MentionEvidence("c1", "d1", "PRODUCT", "Apple is a sweet fruit that grows on trees.")
    firm = MentionEvidence("c2", "d2", "PRODUCT", "A technology company based in Cupertino.")
    assert len(identify([NameEvidence("apple", ("Apple",), (fruit, firm))])) == 2


def test_a_plural_fruit_joins_the_fruit_and_the_firm_its_legal_form() -> None:
    apple = NameEvidence(
        "apple", ("Apple", "apple"), (MentionEvidence("c1", "d1", "FRUIT"), MentionEvidence("c2", "d2", "COMPANY"))
    )
    fruits, firm = named("apples", "d1", type="FRUIT"), named("Apple Inc.", "d2", type="COMPANY")
    found = {(identity.names, identity.sense) for identity in identify([apple, fruits, firm])}
    assert found == {(("apple", "apple inc."), ""), (("apple", "apples"), "natural kind")}


def test_types_that_waver_between_persons_and_organisations_split_nothing() -> None:
    mentions = tuple(
        MentionEvidence(f"c{n}", f"d{n}", kind)
        for n, kind in enumerate(["PERSON", "ORG", "GPE", "PRODUCT", "EVENT", "WORK_OF_ART", ""])
    )
    assert len(identify([NameEvidence("marley", ("Marley",), mentions)])) == 1


def test_an_animal_that_is_also_typed_a_person_is_a_character() -> None:
    mentions = (MentionEvidence("c1", "d1", "ANIMAL"), MentionEvidence("c2", "d2", "PERSON"))
    assert len(identify([NameEvidence("white rabbit", ("White Rabbit",), mentions)])) == 1


def test_one_office_in_two_organisations_is_two_persons() -> None:
    whole = [named("Li Wei, CFO of Borel", "d1"), named("Li Wei, CFO of Tamsin", "d2")]
    assert len(groups(*whole)) == 2
    mentions = (
        MentionEvidence("c1", "d1", "PERSON", "Li Wei is the CFO of Borel."),
        MentionEvidence("c2", "d1", "PERSON", "He spoke in Paris."),
        MentionEvidence("c3", "d2", "PERSON", "chief financial officer of Tamsin Corp. since 2020"),
        MentionEvidence("c4", "d3", "PERSON", "CFO at Borel Inc."),
    )
    first, second = identify([NameEvidence("li wei", ("Li Wei",), mentions)])
    assert (first.sense, second.sense) == ("cfo of borel", "cfo of tamsin corp")
    assert {chunk for _, chunk in second.mentions} == {"c3"}


def test_two_offices_or_one_named_in_one_document_are_one_person() -> None:
    career = (
        MentionEvidence("c1", "d1", "PERSON", "CFO of Borel"),
        MentionEvidence("c2", "d1", "PERSON", "later CFO of Tamsin"),
        MentionEvidence("c3", "d2", "PERSON", "CEO of Tamsin"),
    )
    assert len(identify([NameEvidence("li wei", ("Li Wei",), career)])) == 1


def test_the_user_can_say_that_two_senses_are_one() -> None:
    mentions = (MentionEvidence("c1", "d1", "", "CEO of Borel"), MentionEvidence("c2", "d2", "", "CEO of Tamsin"))
    evidence = [NameEvidence("li wei", ("Li Wei",), mentions)]
    assert len(identify(evidence)) == 2
    assert len(identify(evidence, [Decision("together", "li wei", "li wei")])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Boeing 737", "Boeing 747"),
        ("melanoma", "skin cancer"),
        ("Henry IV", "Henry V"),
        ("max_retries", "maxRetries"),
        ("Adam", "Adams"),
        ("Window", "Windows"),
        ("Acme GmbH", "Acme Inc"),
    ],
)
def test_different_things_stay_two(one: str, other: str) -> None:
    assert not are_one(named(one), named(other))


def test_prose_joins_one_of_two_identifiers_and_never_both() -> None:
    found = groups(named("max_retries"), named("maxRetries"), named("max retries"))
    assert len(found) == 2


def test_a_bare_name_is_the_firm_if_it_is_an_organisation_and_one_firm_is_in_question() -> None:
    firm = named("Acme Inc", "d1", type="ORG")
    assert are_one(firm, named("Acme", "d2", type="COMPANY"))
    assert not are_one(firm, named("Acme", "d2", type="PERSON"))
    assert not are_one(firm, named("Acme", "d2"))
    assert len(groups(firm, named("Acme Ltd", "d3", type="ORG"), named("Acme", "d2", type="ORG"))) == 3


def test_a_definition_joins_an_acronym_to_its_name_in_every_document() -> None:
    acronym = NameEvidence(
        "dga",
        ("DGA",),
        (MentionEvidence("c1", "d1", alias_of=("data governance agency",)), MentionEvidence("c2", "d2")),
    )
    (identity,) = identify([acronym, named("Data Governance Agency", "d1")])
    assert ("dga", "c2") in identity.mentions
    assert [merge.reason for merge in identity.merges] == ["the text defines one as the other"]


def test_an_acronym_of_two_unlike_names_is_two_entities() -> None:
    partnership, protection = "economic partnership agreement", "environmental protection agency"
    mentions = (
        MentionEvidence("c1", "d1", alias_of=(partnership,)),
        MentionEvidence("c2", "d2", alias_of=(protection,)),
        MentionEvidence("c3", "d2"),
    )
    found = identify([NameEvidence("epa", ("EPA",), mentions), named(partnership, "d1"), named(protection, "d2")])
    assert [identity.names for identity in found] == [(partnership, "epa"), (protection, "epa")]
    assert {chunk for name, chunk in found[1].mentions if name == "epa"} == {"c2", "c3"}


def test_two_like_names_never_become_one_through_their_acronym() -> None:
    american, australian = "american basketball association", "australian basketball association"
    mentions = (
        MentionEvidence("c1", "d1", alias_of=(australian,)),
        MentionEvidence("c2", "d2", alias_of=(australian,)),
        MentionEvidence("c3", "d3", alias_of=(american,)),
    )
    found = groups(NameEvidence("aba", ("ABA",), mentions), named(american, "d3"), named(australian, "d1"))
    assert found == [("aba", australian), (american,)]


def test_a_short_name_of_very_many_names_stands_for_none() -> None:
    longs = [f"society of {chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]
    mentions = tuple(MentionEvidence(f"c{n}", f"d{n}", alias_of=(long,)) for n, long in enumerate(longs))
    found = groups(NameEvidence("so", ("SO",), mentions), *(named(long, f"d{n}") for n, long in enumerate(longs)))
    assert len(found) == 61


def test_ten_thousand_mentions_with_offices_everywhere_take_little_time() -> None:
    mentions = tuple(
        MentionEvidence(f"c{n}", f"d{n}", "PERSON", f"The CEO of Firm{n} and mayor of Town{n % 7}")
        for n in range(10_000)
    )
    started = time.perf_counter()
    assert len(identify([NameEvidence("the head", ("The Head",), mentions)])) == 1
    assert time.perf_counter() - started < 20


def test_initials_join_only_without_a_rival_and_within_a_document() -> None:
    acronym, name = named("NJAS", "d1"), named("New Jersey Agricultural Station", "d1")
    assert are_one(acronym, name)
    assert not are_one(acronym, named("New Jersey Agricultural Station", "d2"))
    assert len(groups(acronym, name, named("Nordic Junior Athletics Society", "d9"))) == 3
    assert not are_one(named("Njas", "d1"), name)


def test_what_is_kept_apart_is_apart_by_any_way() -> None:
    one, other, third = named("Acme Corp"), named("Acme Inc"), named("Acme Corporation")
    found = groups(one, other, third, decisions=(Decision("apart", "acme corp", "acme inc"),))
    assert len(found) == 2
    assert not any({"acme corp", "acme inc"} <= set(names) for names in found)


def test_what_the_user_joins_is_one_against_every_rule_and_through_names_that_are_gone() -> None:
    decisions = (Decision("together", "boeing 737", "gone"), Decision("together", "gone", "boeing 747"))
    (identity,) = identify([named("Boeing 737"), named("Boeing 747")], decisions)
    assert identity.names == ("boeing 737", "boeing 747")
    assert {merge.reason for merge in identity.merges} == {"decided by the user"}
    apart = (*decisions, Decision("apart", "boeing 737", "boeing 747"))
    assert len(groups(named("Boeing 737"), named("Boeing 747"), decisions=apart)) == 2


# -- properties --------------------------------------------------------------------------------------------------------

_SPELLINGS = [
    "Acme", "Acme Corp.", "Acme Inc", "Acme Ltd", "The Acme", "Acme's", "turbine", "turbines", "Turbine", "Apple",
    "apples", "Apple Inc.", "DGA", "Data Governance Agency", "Dutch Golf Association", "data-governance agency", "dataRate",
    "data_rate", "data rate", "Li Wei", "Henry V", "Henry IV", "北京 大学", "北京大学",
]  # fmt: skip
_TYPES = ["", "", "FRUIT", "COMPANY", "PERSON", "ANIMAL", "CONCEPT"]
_DESCRIPTIONS = ["", "", "CFO of Borel", "the CFO of Tamsin", "CEO of Borel and CFO of Tamsin", "a sweet fruit"]
_NORMAL = sorted({normalise_name(spelling) for spelling in _SPELLINGS})


@st.composite
def workspaces(draw: st.DrawFn) -> list[NameEvidence]:
    found: dict[str, set[str]] = {}
    mentions: dict[str, dict[str, MentionEvidence]] = {}
    for spelling in draw(st.lists(st.sampled_from(_SPELLINGS), max_size=14)):
        name, document = normalise_name(spelling), draw(st.sampled_from("abc"))
        chunk = f"{document}{draw(st.integers(0, 2))}"
        longs = draw(st.sampled_from([(), ("data governance agency",), ("dutch golf association",)]))
        found.setdefault(name, set()).add(spelling)
        mentions.setdefault(name, {})[chunk] = MentionEvidence(
            chunk,
            document,
            draw(st.sampled_from(_TYPES)),
            draw(st.sampled_from(_DESCRIPTIONS)),
            longs if name == "dga" else (),
        )
    return [NameEvidence(name, tuple(found[name]), tuple(mentions[name].values())) for name in found]


DECISIONS = st.lists(
    st.builds(Decision, st.sampled_from(["together", "apart"]), st.sampled_from(_NORMAL), st.sampled_from(_NORMAL)),
    max_size=4,
)


@given(workspaces(), DECISIONS, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_order_of_evidence_decides_nothing(
    workspace: list[NameEvidence], decisions: list[Decision], random: Random
) -> None:
    shuffled = [
        NameEvidence(
            item.name,
            tuple(random.sample(item.spellings, len(item.spellings))),
            tuple(random.sample(item.mentions, len(item.mentions))),
        )
        for item in random.sample(workspace, len(workspace))
    ]
    assert identify(workspace, decisions) == identify(shuffled, random.sample(decisions, len(decisions)))


@given(workspaces(), DECISIONS)
@settings(max_examples=150, deadline=None)
def test_every_mention_is_of_exactly_one_entity_with_an_identity_of_its_own(
    workspace: list[NameEvidence], decisions: list[Decision]
) -> None:
    found = identify(workspace, decisions)
    mentions = [mention for identity in found for mention in identity.mentions]
    assert sorted(mentions) == sorted((item.name, one.chunk_id) for item in workspace for one in item.mentions)
    assert len({(identity.canonical, identity.sense) for identity in found}) == len(found)
    for identity in found:
        assert identity.canonical == identity.names[0]
        assert {name for name, _ in identity.mentions} == set(identity.names)


@given(workspaces(), DECISIONS)
@settings(max_examples=150, deadline=None)
def test_names_kept_apart_never_end_together(workspace: list[NameEvidence], decisions: list[Decision]) -> None:
    apart = {frozenset((made.one, made.other)) for made in decisions if made.kind == "apart" and made.one != made.other}
    for identity in identify(workspace, decisions):
        assert not any(frozenset(pair) in apart for pair in combinations(identity.names, 2))


@given(workspaces(), DECISIONS)
@settings(max_examples=150, deadline=None)
def test_what_shares_nothing_with_a_name_does_not_change_when_it_goes(
    workspace: list[NameEvidence], decisions: list[Decision]
) -> None:
    stranger = named("Zanzibar", "a")
    alone = identify([*workspace, stranger], decisions)
    assert [identity for identity in alone if "zanzibar" not in identity.names] == identify(workspace, decisions)


@given(workspaces(), DECISIONS)
@settings(max_examples=150, deadline=None)
def test_names_that_nothing_links_can_be_told_apart_in_parts(
    workspace: list[NameEvidence], decisions: list[Decision]
) -> None:
    parts = linked_parts(workspace, decisions)
    found = [identity for part in parts for identity in identify(part, decisions)]
    assert sorted(found, key=lambda one: (one.canonical, one.sense)) == identify(workspace, decisions)


def linked_parts(workspace: list[NameEvidence], decisions: list[Decision]) -> list[list[NameEvidence]]:
    """Names in parts between which there is no shared key, no acronym with its initials, no alias and no decision."""
    links: dict[str, set[str]] = {}
    for item in workspace:
        links[item.name] = {f"key {name_key(item.name)}", f"name {item.name}", f"initials {initials_of(item.name)}"}
        links[item.name] |= {f"initials {acronym_of(form)}" for form in item.spellings}
        links[item.name] |= {f"name {long}" for mention in item.mentions for long in mention.alias_of}
        links[item.name] -= {"initials "}
    for number, made in enumerate(decisions):
        for name in (made.one, made.other):
            links.setdefault(name, {f"name {name}"}).add(f"decision {number}")
    parts: list[set[str]] = []
    for name, shared in links.items():
        near = [part for part in parts if any(not shared.isdisjoint(links[one]) for one in part)]
        parts = [part for part in parts if part not in near] + [{name}.union(*near)]
    return [[item for item in workspace if item.name in part] for part in parts]


@given(workspaces(), DECISIONS)
@settings(max_examples=100, deadline=None)
def test_deciding_what_the_rules_found_changes_nothing(
    workspace: list[NameEvidence], decisions: list[Decision]
) -> None:
    found = identify(workspace, decisions)
    again = [
        Decision("together", merge.one, merge.other)
        for identity in found
        for merge in identity.merges
        if not identity.sense and merge.one != merge.other
    ]
    single = [item for item in workspace if sum(item.name in identity.names for identity in found) == 1]
    kept = [made for made in again if {made.one, made.other} <= {item.name for item in single}]
    names = {identity.names for identity in identify(workspace, [*decisions, *kept])}
    assert names == {identity.names for identity in found}


def test_symbols_of_source_code_are_no_spellings_of_each_other() -> None:
    assert not are_one(named("DB", "d", type="CLASS"), named("db base", "d", type="MODULE", alias_of=("db",)))
    assert not are_one(named("Turbine", "d", type="CLASS"), named("turbines", "d", type="FUNCTION"))
    assert are_one(named("Turbine", "d", type="THING"), named("turbines", "d", type="THING"))
