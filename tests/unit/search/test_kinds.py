from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.model import Plan, QuestionKind
from graphrag_dual.search.planning.cues import cues
from graphrag_dual.search.planning.intent import plan
from graphrag_dual.search.planning.kinds import kind_probabilities

# None of these is among the questions that the model is trained on.
OF_KIND: list[tuple[QuestionKind, str]] = [
    ("local", "Who painted the ceiling of the town hall?"),
    ("local", "When was the ferry launched?"),
    ("local", "What is the default size of the buffer?"),
    ("local", "How many seats does the stadium have?"),
    ("local", "Can I rename a queue?"),
    ("local", "According to the leaflet, where is the spare key kept?"),
    ("local", "缓冲区的默认大小是多少?"),
    ("local", "谁发明了电话?"),
    ("local", "体育场在哪里?"),
    ("multi-hop", "Who is the spouse of the director of the play that opened in Bergen?"),
    ("multi-hop", "When did the country where the treaty was drawn up join the union?"),
    ("multi-hop", "How is the treasurer connected to the company that bought the yard?"),
    ("multi-hop", "Through what chain of owners did the map reach the library?"),
    ("multi-hop", "How did the flood lead to the sale of the farm?"),
    ("multi-hop", "司库和船厂之间有什么联系?"),
    ("multi-hop", "洪水是怎样导致农场被卖掉的?"),
    ("multi-hop", "两家银行的利率分别是多少?"),
    ("global", "Summarize the main themes of the collection."),
    ("global", "Give an overview of the trends across the reports."),
    ("global", "How does the author portray the society of the town throughout the book?"),
    ("global", "Write a poem in the voice of the ferryman."),
    ("global", "总结这些文档的主要内容"),
    ("global", "这些报告反映了哪些趋势?"),
    ("global", "概述系统的整体架构"),
]


@pytest.mark.parametrize(("kind", "question"), OF_KIND)
def test_a_plain_question_is_of_its_kind(kind: QuestionKind, question: str) -> None:
    found = plan(question).probabilities
    assert max(found, key=lambda one: found[one]) == kind, (found, sorted(cues(question.lower())))


PIECES = ["who", "what", ",", "the", "of", "'s", "city", "where", "and how", "的", "谁", "总结", "\ud800", "🙂", "."]
TEXTS = st.one_of(
    st.text(max_size=600),
    st.text(st.characters(categories=("Cs", "So", "Lo", "Ll", "Zs", "Po")), max_size=600),
    st.lists(st.sampled_from(PIECES), max_size=80).map(" ".join),
)


@given(TEXTS)
def test_the_probabilities_of_any_text_sum_to_one(question: str) -> None:
    found = kind_probabilities(question)
    assert list(found) == ["local", "multi-hop", "global"]
    assert all(math.isfinite(one) and 0 <= one <= 1 for one in found.values())
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "question", ["", "?", "\ud800", "🙂" * 50, "the city of " * 12_000, "总结" * 12_000, ", who" * 12_000]
)
def test_the_plan_of_odd_text_has_probabilities(question: str) -> None:
    assert sum(plan(question).probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize("strategy", ["adaptive", "rrf"])
def test_every_strategy_gives_the_probabilities(strategy: str) -> None:
    question = "Who founded the observatory?"
    assert plan(question, strategy=strategy).probabilities == kind_probabilities(question)


def test_the_end_of_pasted_material_says_the_kind() -> None:
    note = "The pump was slow again. " * 500
    asked, told = (
        kind_probabilities(note + "Summarize the overall trends and recurring themes."),
        kind_probabilities(note),
    )
    assert asked["global"] > told["global"] + 0.3


def test_a_plan_made_by_hand_has_no_probabilities() -> None:
    assert Plan("Who?", "neutral", {"local": 1.0, "global": 1.0}, "mine").probabilities == {}


def test_what_leads_up_to_the_question_is_not_the_question() -> None:
    assert "^who" in cues("in the minutes of may, who asked for the audit?")
    assert "#described1" in cues("in the country that borders the lake, what year did the war end?")


@pytest.mark.parametrize(
    ("question", "nested"),
    [
        ("who is the director of the film?", False),
        ("who is the mother of the director of the film?", True),
        ("what is the name of the state where the mill is located?", False),
        ("when did the state where the mill is located join the union?", True),
    ],
)
def test_what_is_asked_for_is_no_step_on_the_way(question: str, nested: bool) -> None:
    assert ("#described1" in cues(question)) == nested


def test_the_probabilities_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "import json, sys; from graphrag_dual.search.planning.kinds import kind_probabilities as of; "
        "print(json.dumps([of(one) for one in json.load(sys.stdin)]))"
    )
    questions = json.dumps([question for _, question in OF_KIND])
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=questions,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert json.loads(answers.pop()) == [dict(kind_probabilities(question)) for _, question in OF_KIND]
