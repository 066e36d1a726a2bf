from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphrag_dual.loop_thread import LoopThread


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    opened = LoopThread()
    yield opened
    opened.close()


async def double(number: int) -> int:
    await asyncio.sleep(0.01)
    return 2 * number


async def where() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_a_synchronous_call_works_inside_a_running_loop(loop: LoopThread) -> None:
    async def notebook() -> int:
        return loop.run(double(2))

    assert asyncio.run(notebook()) == 4


def test_all_work_runs_on_one_loop_whoever_calls(loop: LoopThread) -> None:
    first = asyncio.run(loop.run_async(where()))
    second = asyncio.run(loop.run_async(where()))
    with ThreadPoolExecutor(4) as pool:
        others = list(pool.map(lambda _: loop.run(where()), range(4)))
    assert {id(one) for one in (first, second, *others)} == {id(loop.run(where()))}


def test_four_threads_wait_for_their_own_results_at_once(loop: LoopThread) -> None:
    meeting = asyncio.Event()
    arrived = 0

    async def meet(number: int) -> int:
        nonlocal arrived
        arrived += 1
        if arrived == 4:
            meeting.set()
        await asyncio.wait_for(meeting.wait(), timeout=5)
        return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda number: loop.run(meet(number)), range(4))) == [0, 1, 2, 3]


def test_an_error_reaches_the_caller(loop: LoopThread) -> None:
    async def fail() -> None:
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        loop.run(fail())
    with pytest.raises(LookupError, match="no such thing"):
        asyncio.run(loop.run_async(fail()))


def test_cancelling_the_caller_cancels_the_work(loop: LoopThread) -> None:
    started, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def caller() -> None:
        task = asyncio.ensure_future(loop.run_async(work()))
        await asyncio.to_thread(started.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(caller())
    assert cancelled.wait(5)


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a thread")
def test_an_interrupted_call_waits_until_the_work_has_tidied_up(loop: LoopThread) -> None:
    main = threading.main_thread().ident
    assert main is not None
    steps: list[str] = []

    async def work() -> None:
        try:
            signal.pthread_kill(main, signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            steps.append("cancelled")
            await asyncio.sleep(0.2)
            steps.append("tidied up")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores interrupts
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert steps == ["cancelled", "tidied up"]
    assert loop.run(double(1)) == 2


def test_closing_twice_does_nothing(loop: LoopThread) -> None:
    states = [loop.closed]
    for _ in range(2):
        loop.close()
        states.append(loop.closed)
    assert states == [False, True, True]
    assert not loop._thread.is_alive()


def test_a_call_after_closing_is_an_error(loop: LoopThread) -> None:
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(double(1))
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(loop.run_async(double(1)))


def test_a_synchronous_call_from_the_loop_itself_is_an_error_and_no_deadlock(loop: LoopThread) -> None:
    async def inner() -> int:
        return loop.run(double(1))

    with pytest.raises(RuntimeError, match="async method"):
        loop.run(inner())


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt()])
def test_an_exit_inside_the_work_is_an_error_and_the_loop_goes_on(loop: LoopThread, error: BaseException) -> None:
    async def leave() -> None:
        raise error

    async def stay() -> int:
        return 7

    with pytest.raises(RuntimeError, match=f"{type(error).__name__} inside the engine"):
        loop.run(leave())
    assert loop.run(stay()) == 7
