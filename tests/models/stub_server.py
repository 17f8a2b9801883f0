"""A server of OpenAI's protocol, with vLLM's additions, that answers over real HTTP what an engine tells it.

It can be told to refuse, to be slow, to leave fields out and to quote the key that it was sent; it keeps what it was
asked and how many requests were under way at once.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Lock, Thread
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from PIL import Image

KEY = "{key}"
"""Stands in a scripted answer for the Authorization header that the server was sent."""


class Engine(Protocol):
    def caption(self, image: Image.Image, text: str, tokens: int) -> str:
        """Return what is written after a turn."""

    def first(self, image: Image.Image, text: str, alternatives: int) -> list[tuple[str, float]]:
        """Return the likeliest first tokens of the answer to a turn, and log P of each."""

    def prompt(self, image: Image.Image, text: str, answer: str | None) -> list[tuple[int, str, float]]:
        """Return id, text and log P of each token of a turn, and of the answer begun after it."""


class Table:
    """An engine whose numbers are checksums of what it was shown and told: reproducible, different for all."""

    def caption(self, image: Image.Image, text: str, tokens: int) -> str:
        return f" {crc32(image.tobytes())} {image.size} {text} {tokens} "

    def first(self, image: Image.Image, text: str, alternatives: int) -> list[tuple[str, float]]:
        words = ("Yes", "No", "yes", " no", "The", "A", "maybe")
        return [(word, log_probability(image, text, word)) for word in words][:alternatives]

    def prompt(self, image: Image.Image, text: str, answer: str | None) -> list[tuple[int, str, float]]:
        words = ["<start>", *text.split(), "<answer>", *(answer or "").split()]
        return [(crc32(word.encode()), f" {word}", log_probability(image, text, word)) for word in words]


def log_probability(image: Image.Image, text: str, word: str) -> float:
    """Return a number from -8 to 0 that differs with the picture, the turn and the word."""
    return -(crc32(image.tobytes() + text.encode() + word.encode()) % 8000) / 1000


class Refusal(NamedTuple):
    status: int
    text: str = ""
    headers: Mapping[str, str] = {}


class Stub:
    """The state of a running server."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.models: list[dict[str, Any]] = [{"id": "tiny", "owned_by": "stub", "created": 1}]
        self.version: str | None = "0.1"
        self.gives = {"logprobs", "prompt_logprobs"}
        self.refusals: deque[Refusal] = deque()  # of the next completions
        self.refuses: Refusal | None = None  # every request
        self.slowness = 0.0  # seconds; a request's own share depends on what it asks
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most_at_once = 0
        self.url = ""
        self._under_way = 0
        self._lock = Lock()

    def get(self, path: str) -> tuple[int, Any]:
        if path == "/v1/models":
            return 200, {"object": "list", "data": self.models}
        if path == "/version" and self.version:
            return 200, {"version": self.version}
        return 404, {"detail": "Not Found"}

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.asked.append(body)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            time.sleep(self.slowness * (crc32(json.dumps(body).encode()) % 100) / 100)
            return self._answer(body)
        finally:
            with self._lock:
                self._under_way -= 1

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        image, text = shown(body)
        begun = body["messages"][1]["content"] if len(body["messages"]) > 1 else None
        written = "" if begun else self.engine.caption(image, text, body["max_tokens"])
        choice: dict[str, Any] = {"finish_reason": "stop", "message": {"role": "assistant", "content": written}}
        answer: dict[str, Any] = {"object": "chat.completion", "choices": [choice], "created": time.time()}
        if body.get("logprobs") and "logprobs" in self.gives:
            first = self.engine.first(image, text, body["top_logprobs"])
            told = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in first]
            choice["logprobs"] = {"content": [told[0] | {"top_logprobs": told}]}
        if "prompt_logprobs" in body and "prompt_logprobs" in self.gives:
            assert (
                (begun is None) == body.get("add_generation_prompt", True) != body.get("continue_final_message", False)
            )
            tokens = self.engine.prompt(image, text, begun)[1:]
            told = [{str(name): {"logprob": log, "rank": 1, "decoded_token": word}} for name, word, log in tokens]
            answer["prompt_logprobs"] = [None, *told]
        return answer


def shown(body: Mapping[str, Any]) -> tuple[Image.Image, str]:
    """Return the picture and the text of a request's user turn, in which they stand in this order."""
    picture, text = body["messages"][0]["content"]
    header, data = picture["image_url"]["url"].split(",")
    assert header == "data:image/png;base64"
    return Image.open(BytesIO(b64decode(data))), text["text"]


@contextmanager
def serving(engine: Engine) -> Iterator[Stub]:
    """Run a server on a free port of this machine."""
    stub = Stub(engine)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply(*((stub.refuses.status, stub.refuses.text) if stub.refuses else stub.get(self.path)))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stub.keys.append(self.headers["Authorization"])
            refusal = stub.refuses or (stub.refusals.popleft() if stub.refusals else None)
            if refusal:
                self._reply(refusal.status, refusal.text, refusal.headers)
            else:
                self._reply(200, stub.complete(body))

        def _reply(self, status: int, content: Any, headers: Mapping[str, str] = {}) -> None:
            text = content if isinstance(content, str) else json.dumps(content)
            data = text.replace(KEY, self.headers.get("Authorization", "")).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
