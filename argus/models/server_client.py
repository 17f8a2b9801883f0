"""The door to the openai package: requests to a server, a bounded number at once, and errors that show no key."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import urlopen

from argus.errors import ArgusError, ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
Answer = Mapping[str, Any]
"""What a server answered, as read from JSON."""

VERSION_PATH = "/v1"  # what base_url ends in; a server tells its own version beside it
LISTING_TIMEOUT_S, LISTING_RETRIES = 10.0, 1  # a server that is there lists its models at once
LONGEST_QUOTE = 300  # characters of a server's own words in an error
TOLD = ("root", "parent", "owned_by")  # what /v1/models says of a model, less what differs from call to call


@dataclass(frozen=True)
class Served:
    """A model that a server lists: what to call it in requests, and what the server says it is."""

    id: str
    revision: str


class Client:
    """One server, and the key to it: the value of the environment variable `api_key_env`, none where it is not set.

    Raises ConfigError when the openai package is missing, or the URL or the key cannot be sent.
    """

    def __init__(self, base_url: str | None, api_key_env: str, timeout_s: float, max_retries: int) -> None:
        self.base_url = checked_url(base_url)
        self.api_key_env = api_key_env
        self.timeout_s = timeout_s
        self.max_retries = max_retries
        self._key = _key(api_key_env)
        self._library = _openai()
        # The client asks for a key; a server that wants none ignores this one.
        self._openai = self._library.OpenAI(
            base_url=self.base_url, api_key=self._key or "none", timeout=timeout_s, max_retries=max_retries
        )

    def models(self) -> Answer:
        """Return the answer of GET /models."""
        return self._call(
            "GET", "/models", "is this the address of the API?", self._openai.models.with_raw_response.list
        )

    def complete(self, request: Mapping[str, Any], hint: str) -> Answer:
        """Return the answer of POST /chat/completions; `hint` says what a server that refuses may lack.

        429, 5xx, timeouts and lost connections are tried again, after growing waits or as Retry-After tells. Raises
        ConfigError for a request that the server refuses, ArgusError for one that failed to the end.
        """
        create = self._openai.chat.completions.with_raw_response.create
        return self._call("POST", "/chat/completions", hint, lambda: create(**request))

    def _call(self, method: str, path: str, hint: str, send: Callable[[], Any]) -> Answer:
        where = f"{method} {self.base_url}{path}"
        try:
            text = send().http_response.text
        except self._library.APITimeoutError:
            trouble: ArgusError = ArgusError(
                f"{where} gave no answer within {self.timeout_s:g} s{self._tried()}: {SLOW}"
            )
        except self._library.APIConnectionError as error:
            trouble = ConfigError(f"{where} cannot be reached ({self._safe(error.__cause__)}){self._tried()}: {ABSENT}")
        except self._library.APIStatusError as error:
            trouble = self._refusal(where, error.status_code, error.response.text, hint)
        else:
            return _table(where, text)
        # Raised out here, so that no traceback can show the library's error: a server may quote the key in it.
        raise trouble

    def _refusal(self, where: str, status: int, said: str, hint: str) -> ArgusError:
        """Return the error for an answer that is none."""
        if status in (401, 403):  # the server's own words may quote the key, whole or in part
            has = "does not accept the key in" if self._key else "wants a key: set"
            return ConfigError(
                f"{where} answered {status}: the server {has} the environment variable {self.api_key_env}"
            )
        words = f"{where} answered {status}: {self._safe(said)}"
        if status == 429:
            return ArgusError(f"{words}\nRefused{self._tried()}: {BUSY}")
        if status >= 500:
            return ArgusError(f"{words}\nFailed{self._tried()}: look at the server's log")
        if status == 404:
            hint = "no such path or model there: model.base_url usually ends in /v1"
        return ConfigError(f"{words}\n{hint}")

    def _tried(self) -> str:
        return f", also when tried again {self.max_retries} times" if self.max_retries else ""

    def _safe(self, said: object) -> str:
        """Return a server's or library's words on one line, cut, without the key."""
        words = " ".join(str(said).split())
        if self._key:
            words = words.replace(self._key, "<key>")
        return words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}…"


SLOW = "give it longer (model.adapter.connection.timeout_s) or less to do (model.adapter.connection.requests_at_once)"
ABSENT = "start the server, or set model.base_url"
BUSY = "ask less at once (model.adapter.connection.requests_at_once)"


class Connection:
    """A model behind a server, asked for up to `requests_at_once` answers at a time.

    `served` is its id among those that the server lists; None takes the only one.
    """

    def __init__(
        self,
        base_url: str | None,
        served: str | None,
        api_key_env: str,
        requests_at_once: int,
        timeout_s: float,
        max_retries: int,
    ) -> None:
        for name, value, least in (("requests_at_once", requests_at_once, 1), ("max_retries", max_retries, 0)):
            if type(value) is not int or value < least:
                raise ConfigError(f"{name} is {value!r}: give a whole number, {least} or more")
        if not timeout_s > 0:
            raise ConfigError(f"timeout_s is {timeout_s!r}: give the seconds after which a request has failed")
        self.served = find_served(base_url, served, api_key_env)
        self.client = Client(base_url, api_key_env, timeout_s, max_retries)
        self.requests_at_once = requests_at_once

    def complete(self, request: Mapping[str, Any], hint: str) -> Answer:
        """Return `Client.complete` of a request to the served model."""
        return self.client.complete({"model": self.served.id, **request}, hint)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the function's results in the order of the items; the first error ends it."""
        pool = ThreadPoolExecutor(self.requests_at_once)
        try:
            return list(pool.map(function, items))
        finally:
            # No waiting: an interrupted cell must be closed before whoever interrupted it loses patience.
            pool.shutdown(wait=False, cancel_futures=True)


def find_served(base_url: str | None, served: str | None, api_key_env: str) -> Served:
    """Ask a server which models it serves, and return the one of this id, or its only one.

    The revision is the id, what the server says of the model, and the server's version where it tells one.
    Raises ConfigError when the server does not answer, refuses the key, or does not list the model.
    """
    client = Client(base_url, api_key_env, LISTING_TIMEOUT_S, LISTING_RETRIES)
    listed = client.models().get("data")
    models = {str(model["id"]): model for model in listed} if isinstance(listed, list) else {}
    names = ", ".join(models) or "none"
    if served is None and len(models) != 1:
        raise ConfigError(f"'{client.base_url}' serves {len(models)} models ({names}): choose one by model.served=…")
    if served is not None and served not in models:
        raise ConfigError(f"'{client.base_url}' does not serve '{served}', but: {names}; set model.served")
    name = served or next(iter(models))
    told = {key: models[name].get(key) for key in TOLD} | {"version": _version(client.base_url)}
    facts = [f"{key} {value}" for key, value in told.items() if value and value != name]
    return Served(name, f"{name} ({', '.join(facts)})" if facts else name)


def checked_url(base_url: str | None) -> str:
    """Return the URL without a slash at its end; raise ConfigError for one that cannot be used or holds a secret."""
    if not base_url:
        raise ConfigError(
            "model.base_url is not set: give the server's address, model.base_url=http://localhost:8000/v1"
        )
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("model.base_url is no address of a server: give one like http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ConfigError(
            "model.base_url holds more than an address, and would be logged as it stands: put a key into the "
            "environment variable that model.api_key_env names"
        )
    return base_url.rstrip("/")


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if any(not "!" <= letter <= "~" for letter in key):  # http libraries quote a header that they cannot send
        raise ConfigError(f"the environment variable {variable} holds no key: keys are ASCII letters without spaces")
    return key


def _openai() -> ModuleType:
    try:
        import openai
    except ImportError as error:
        raise ConfigError(
            "a model behind a server needs the openai package: pip install 'argus-eval[server]'"
        ) from error
    return openai


def _table(where: str, text: str) -> Answer:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ConfigError(
            f"{where} answered with no JSON object: model.base_url does not name an OpenAI-compatible API"
        )
    return answer


def _version(base_url: str) -> str | None:
    """Return what GET /version tells (vLLM, SGLang), or None where the server does not tell; no key is sent."""
    try:
        with urlopen(base_url.removesuffix(VERSION_PATH) + "/version", timeout=LISTING_TIMEOUT_S) as answer:
            told = json.load(answer)
    except (OSError, ValueError, HTTPException):
        return None
    version = told.get("version") if isinstance(told, dict) else None
    return version if isinstance(version, str) else None
