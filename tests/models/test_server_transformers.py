"""A real server: `transformers serve` with the pocket Gemma."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest
from PIL import Image

from argus.data.images import load_image
from argus.errors import ArgusError
from argus.models.base import Choice, Runtime
from argus.models.chat import Chat
from argus.models.server import Server
from argus.models.server_client import Connection
from argus.records import ImageSource
from tests.models.plain import MATCH_PROMPT, QUESTION_PROMPT

GEMMA = Path(__file__).resolve().parents[2] / "argus" / "pocket" / "checkpoints" / "gemma"
PROMPT = "Describe this image in one sentence."
LACKING = [name for name in ("accelerate", "fastapi", "uvicorn") if find_spec(name) is None]
START_S = 120


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if LACKING:
        pytest.skip(f"transformers serve needs {', '.join(LACKING)}: pip install 'transformers[serving]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(GEMMA)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    with log.open("w") as file:
        server = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    try:
        deadline = time.monotonic() + START_S
        while not answers(f"http://127.0.0.1:{port}/health"):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    try:
        urlopen(address, timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def server(url: str, runtime: Runtime) -> Server:
    connection = Connection(url, None, "ARGUS_TEST_KEY", requests_at_once=4, timeout_s=60, max_retries=2)
    return Server(connection, PROMPT, MATCH_PROMPT, QUESTION_PROMPT, 64, 20, {}, 0, runtime)


@pytest.fixture(scope="module")
def scenes(pocket_data_dir: str) -> list[Image.Image]:
    folder = Path(pocket_data_dir) / "coco" / "val2017"
    return [load_image(ImageSource(path)) for path in sorted(folder.iterdir())]


def test_captions_through_transformers_serve_equal_those_of_the_chat_adapter(
    server: Server, scenes: list[Image.Image], runtime: Runtime
) -> None:
    chat = Chat(str(GEMMA), None, PROMPT, MATCH_PROMPT, QUESTION_PROMPT, 1, 64, {}, 64, runtime)
    captions = server.generate(scenes, [PROMPT] * len(scenes))
    assert captions == chat.generate(scenes, [PROMPT] * len(scenes))
    assert len(set(captions)) > len(scenes) / 2
    assert server.revision == f"{GEMMA} (owned_by local)"


def test_transformers_serve_is_told_that_it_gives_no_logprobs(server: Server, scenes: list[Image.Image]) -> None:
    with pytest.raises(ArgusError, match=r"top_logprobs.*vLLM"):
        server.match(scenes[:1], [["a red cube"]])
    with pytest.raises(ArgusError, match=r"(?s)prompt_logprobs.*vLLM"):
        server.choose(scenes[:1], [[Choice("What?", ("red", "blue"))]])
