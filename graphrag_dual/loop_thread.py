"""One event loop in a thread of its own, on which all of an engine's work runs, whoever calls.

Drivers and HTTP clients belong to the loop that they were made on.  With a loop of our own, the same engine works from a
script, from Jupyter, inside a running loop, from several threads and from one ``asyncio.run`` after another.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

__all__ = ["LoopThread"]

Result = TypeVar("Result")

_TIDY_UP_S = 10.0


class LoopThread:
    """A daemon thread that runs one event loop until ``close``."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="graphrag-dual", daemon=True)
        self._thread.start()
        # Also when it is forgotten, and at exit: no thread is left, and no noise of sockets that nobody closed.
        self._end = weakref.finalize(self, _end, self._loop, self._thread)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run ``work`` and wait for it; an interrupt cancels it and waits until it has tidied up.

        Raises:
            RuntimeError: closed, or called from the loop's own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a synchronous call inside the engine's own loop would never end; use the async method")
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("this engine is closed")
        job = _Job(work)
        try:
            # The submission too: an interrupt may come while it is under way, when the work has begun already.
            return self._submit(job).result()
        except (KeyboardInterrupt, SystemExit):
            job.stop(self._loop)
            job.ended.wait(timeout=_TIDY_UP_S)
            raise

    async def run_async(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await ``work`` from any loop; cancelling the caller cancels it and waits until it has tidied up."""
        job = _Job(work)
        try:
            return await asyncio.wrap_future(self._submit(job))
        except asyncio.CancelledError:
            # Else a caller that closes the engine next would take the connection from under a lease being released.
            await asyncio.to_thread(job.ended.wait, _TIDY_UP_S)
            raise

    def _submit(self, job: _Job[Result]) -> Future[Result]:
        if self._loop.is_closed():
            job.work.close()
            raise RuntimeError("this engine is closed")
        return asyncio.run_coroutine_threadsafe(job.run(), self._loop)

    @property
    def closed(self) -> bool:
        """Whether the loop has ended."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Cancel what still runs, stop the loop and join the thread; a second call does nothing."""
        self._end()


class _Job(Generic[Result]):
    """Work that another thread can stop, whether it has begun or not; ``ended`` is set when nothing of it runs."""

    def __init__(self, work: Coroutine[Any, Any, Result]) -> None:
        self.work = work
        self.ended = threading.Event()
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False

    async def run(self) -> Result:
        """Do the work, on the loop."""
        self._task = asyncio.current_task()
        try:
            if self._stopped:
                self.work.close()
                raise asyncio.CancelledError
            return await self.work
        except (SystemExit, KeyboardInterrupt) as error:
            # From code of the caller, such as a reranker's.  It would end the loop, and everybody would wait for ever.
            raise RuntimeError(f"{type(error).__name__} inside the engine: {error}") from error
        finally:
            self.ended.set()

    def stop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the work from another thread."""
        self._stopped = True
        loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is None:
            self.ended.set()
        elif not self.ended.is_set():
            self._task.cancel()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.create_task, _tidy_up(loop))
    if threading.current_thread() is not thread:
        thread.join(timeout=_TIDY_UP_S)
        if not thread.is_alive():
            loop.close()


async def _tidy_up(loop: asyncio.AbstractEventLoop) -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    await loop.shutdown_asyncgens()
    loop.stop()
