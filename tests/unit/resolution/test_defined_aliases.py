from __future__ import annotations

import pytest

from graphrag_dual.resolution.aliases import abbreviates, defined_aliases


@pytest.mark.parametrize(
    ("text", "names", "pair"),
    [
        ("The Data Governance Agency (DGA) met.", ["DGA", "Data Governance Agency"], ("dga", "data governance agency")),
        ("The DGA (Data Governance Agency) met.", ["DGA", "Data Governance Agency"], ("dga", "data governance agency")),
        ("Data Governance\nAgency (“DGA”)", ["DGA", "Data Governance Agency"], ("dga", "data governance agency")),
        ("several machine images (MIs) exist", ["machine images", "MIs"], ("mis", "machine images")),
        (
            "Here CTR, short for Click Through Rate, falls.",
            ["CTR", "Click Through Rate"],
            ("ctr", "click through rate"),
        ),
        (
            "The Salt March, also known as the Dandi March, began.",
            ["Salt March", "Dandi March"],
            ("salt march", "dandi march"),
        ),
        ("据国际足联（FIFA）消息", ["国际足联", "FIFA"], ("fifa", "国际足联")),
        (
            "中国铁路集团有限公司（以下简称国铁集团）获悉",
            ["国铁集团", "中国铁路集团有限公司"],
            ("国铁集团", "中国铁路集团有限公司"),
        ),
        ("-", ["Revenue Service (RS)", "Revenue Service"], ("revenue service", "revenue service (rs)")),
    ],
)
def test_a_text_defines_a_short_name(text: str, names: list[str], pair: tuple[str, str]) -> None:
    assert [tuple(sorted(found)) for found in defined_aliases(text, names)] == [tuple(sorted(pair))]
    assert defined_aliases(text, names[::-1]) == defined_aliases(text, names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Esther Duflo (MIT) spoke.", ["Esther Duflo", "MIT"]),
        ("Southern Railway (UK) ran.", ["Southern Railway", "UK"]),
        ("Paris (France) lies there.", ["Paris", "France"]),
        ("Michael Corleone (Pacino) left.", ["Michael Corleone", "Pacino"]),
        (
            "The parks in the United Kingdom, also known as Falkland House, opened.",
            ["United Kingdom", "Falkland House"],
        ),
        ("The Data Governance Agency met. The DGA too.", ["Data Governance Agency", "DGA"]),
        ("超高清（4K）电视", ["超高清", "4K"]),
        ("", ["DGA", "Data Governance Agency"]),
    ],
)
def test_brackets_that_hold_something_else_define_nothing(text: str, names: list[str]) -> None:
    assert defined_aliases(text, names) == []


def test_the_longest_name_before_the_brackets_is_meant() -> None:
    names = ["Agency", "Data Agency", "European Data Agency", "EDA"]
    assert defined_aliases("The European Data Agency (EDA)", names) == [("eda", "european data agency")]


def test_letters_of_an_abbreviation_stand_in_order_and_begin_with_the_first() -> None:
    assert abbreviates("RTVE", "Radiotelevisión Española")
    assert abbreviates("AZs", "Availability Zones")
    assert not abbreviates("VPC", "Amazon Virtual Private Cloud")
    assert not abbreviates("Dga", "Data Governance Agency")
    assert not abbreviates("ALONGERABBREVIATION", "A Longer Abbreviation Than Any")
