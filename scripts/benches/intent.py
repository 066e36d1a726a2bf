"""How long a plan takes, rules and kinds together.  Standard library timing over built-in questions, long ones included."""

from __future__ import annotations

import time

from graphrag_dual.search.planning.intent import plan

__all__ = ["run"]

_SHORT = (
    "Who founded the observatory on the hill?",
    "When did the second expedition leave Bergen?",
    "Which river runs through the town where Clara Holm was born?",
    "What is the default of max_retries?",
    "Does v2.3.1 still read the old index format?",
    "Why does the gateway answer 502 Bad Gateway after the upgrade?",
    "Where is neo4j.conf on a Debian server?",
    "Summarize the discussion about storage costs.",
    "Give me an overview of the billing service.",
    "What are the main topics of these notes?",
    "What is the overall architecture and where is API_v2_patch_08 applied?",
    "How does maxRetries interact with requestTimeout in the client?",
    "What does ORA-00942 mean?",
    "Is CVE-2024-1234 fixed in 5.26.30?",
    "What did the mayor say in 1998 about the 3.5 million visitors?",
    "Which films did the director of the harbour trilogy make before 1960?",
    "Are there common patterns across the documents?",
    "What is the relation between the two shipping companies?",
    "Who is the spouse of the composer of the anthem?",
    "Which trends does the collection show in farming?",
    "How many people lived in the valley before the dam was built?",
    "In general, how do the teams work together?",
    "What happens when --dry-run and --force are given together?",
    "Can Python 3.11 run the quickstart?",
    "What is the capital of the province?",
    "How old was the painter when the war ended?",
)
_CHINESE = (
    "max_retries 的默认值是多少?",
    "总结一下这些文档的主要内容",
    "系统的整体架构是什么样的?",
    "这本书的作者是谁?",
    "升级到 v2.3.1 之后为什么报错 502?",
    "各个项目之间有什么共性?",
    "近几年的发展趋势如何?",
    "配置文件 config.yaml 放在哪里?",
    "谁在1998年担任市长?",
    "概述缓存模块, 并说明 cache_ttl 的作用",
)
_NOTE = "The night shift wrote that the pumps of Station North were slow again and that nobody had read the gauge. "
_LONG = (
    _NOTE * 3 + "What went wrong?",
    _NOTE * 9 + "Summarize the notes.",
    _NOTE * 19 + "Which pump_id was affected?",
    "夜班记录显示北站的水泵又变慢了, 没有人读过仪表。" * 40 + "总结一下原因。",
)
_ROUNDS = 60


def run() -> dict[str, float]:
    """Time every question 60 times, in turn; p50 and p99 in microseconds over all calls."""
    questions = (*_SHORT, *_CHINESE, *_LONG)
    for question in questions:
        plan(question)
    taken: list[int] = []
    for _ in range(_ROUNDS):
        for question in questions:
            started = time.perf_counter_ns()
            plan(question)
            taken.append(time.perf_counter_ns() - started)
    taken.sort()
    return {"p50_us": taken[len(taken) // 2] / 1000, "p99_us": taken[len(taken) * 99 // 100] / 1000}


if __name__ == "__main__":
    print(run())
