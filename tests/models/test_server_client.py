"""Requests over real HTTP: what is tried again, what is said when it fails, and that no key is ever shown."""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections.abc import Iterator

import pytest
from PIL import Image

from argus.errors import ArgusError, ConfigError
from argus.models.server import data_uri, turn
from argus.models.server_client import Client, Connection, checked_url, find_served
from tests.models.stub_server import KEY, Refusal, Stub, Table, serving

VARIABLE = "ARGUS_TEST_KEY"
PLANTED = "sk-planted-0123456789"
REQUEST = {"model": "tiny", "max_tokens": 1, "messages": turn(data_uri(Image.new("RGB", (1, 1))), "What?")}


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving(Table()) as running:
        yield running


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, PLANTED)
    return PLANTED


def client(stub: Stub, max_retries: int = 0, timeout_s: float = 30) -> Client:
    return Client(stub.url, VARIABLE, timeout_s, max_retries)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_request_that_failed_for_a_while_is_tried_again(stub: Stub, status: int) -> None:
    stub.refusals.append(Refusal(status, "busy"))
    assert client(stub, 1).complete(REQUEST, "")["choices"]
    assert len(stub.keys) == 2


def test_waits_grow(stub: Stub) -> None:
    stub.refusals.extend([Refusal(503)] * 2)
    start = time.monotonic()
    client(stub, 2).complete(REQUEST, "")
    assert time.monotonic() - start > 0.75 * (0.5 + 1)  # less a quarter, by chance, so that waiting clients spread out


def test_the_wait_that_a_server_asks_for_is_kept(stub: Stub) -> None:
    stub.refusals.append(Refusal(429, headers={"Retry-After": "1"}))
    start = time.monotonic()
    client(stub, 1).complete(REQUEST, "")
    assert time.monotonic() - start > 1


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (
            429,
            ArgusError,
            "also when tried again 1 times: ask less at once (model.adapter.connection.requests_at_once)",
        ),
        (503, ArgusError, "also when tried again 1 times: look at the server's log"),
        (400, ConfigError, "what it may lack"),
        (422, ConfigError, "what it may lack"),
        (404, ConfigError, "model.base_url usually ends in /v1"),
    ],
)
def test_a_request_that_failed_to_the_end_names_address_status_words_and_what_to_do(
    stub: Stub, status: int, kind: type[ArgusError], told: str
) -> None:
    stub.refusals.extend([Refusal(status, '{"error": "so it is"}')] * 2)
    with pytest.raises(kind) as caught:
        client(stub, 1).complete(REQUEST, "what it may lack")
    message = str(caught.value)
    assert message.startswith(f'POST {stub.url}/chat/completions answered {status}: {{"error": "so it is"}}\n')
    assert told in message
    assert len(stub.keys) == (2 if kind is ArgusError else 1)


def test_an_answer_that_takes_too_long_is_an_error_with_its_limit(stub: Stub) -> None:
    stub.slowness = 20  # this request's share of it is above a tenth
    with pytest.raises(ArgusError, match=r"no answer within 0\.2 s: give it longer .*timeout_s"):
        client(stub, timeout_s=0.2).complete(REQUEST, "")


def test_a_server_that_is_not_there_is_an_error_with_its_address() -> None:
    with pytest.raises(ConfigError, match=r"GET http://127\.0\.0\.1:9/v1/models cannot be reached .*start the server"):
        Client("http://127.0.0.1:9/v1/", VARIABLE, 5, 0).models()


def test_a_page_in_the_place_of_an_api_is_an_error(stub: Stub) -> None:
    stub.refusals.append(Refusal(200, "<html>Welcome</html>"))
    with pytest.raises(ConfigError, match="does not name an OpenAI-compatible API"):
        client(stub).complete(REQUEST, "")


def test_the_first_error_ends_the_work(stub: Stub) -> None:
    connection = Connection(stub.url, None, VARIABLE, 2, 30, 0)
    stub.slowness = 0.2
    stub.refusals.append(Refusal(400))
    with pytest.raises(ConfigError):
        connection.map(lambda number: connection.complete(REQUEST, ""), range(100))
    assert len(stub.keys) < 10


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"requests_at_once": 0}, "requests_at_once is 0"),
        ({"requests_at_once": True}, "requests_at_once is True"),
        ({"max_retries": -1}, "max_retries is -1"),
        ({"max_retries": 1.5}, r"max_retries is 1\.5"),
        ({"timeout_s": 0}, "timeout_s is 0"),
    ],
)
def test_a_number_that_cannot_work_is_named(stub: Stub, changed: dict[str, object], told: str) -> None:
    settings = {"requests_at_once": 1, "timeout_s": 1.0, "max_retries": 0} | changed
    with pytest.raises(ConfigError, match=told):
        Connection(stub.url, None, VARIABLE, **settings)  # type: ignore[arg-type]


def test_the_only_model_is_taken_and_of_several_the_one_named(stub: Stub) -> None:
    assert find_served(stub.url, None, VARIABLE).id == "tiny"
    stub.models.append({"id": "large"})
    assert find_served(stub.url, "large", VARIABLE).id == "large"
    with pytest.raises(ConfigError, match=r"serves 2 models \(tiny, large\): choose one by model\.served"):
        find_served(stub.url, None, VARIABLE)
    with pytest.raises(ConfigError, match="does not serve 'huge', but: tiny, large"):
        find_served(stub.url, "huge", VARIABLE)
    stub.models.clear()
    with pytest.raises(ConfigError, match=r"serves 0 models \(none\)"):
        find_served(stub.url, None, VARIABLE)


@pytest.mark.parametrize("url", ["", None])
def test_no_address_is_an_error_with_an_example(url: str | None) -> None:
    with pytest.raises(ConfigError, match=r"model\.base_url is not set: .*http://localhost:8000/v1"):
        checked_url(url)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "/folder", "http://host:port/v1"])
def test_what_is_no_address_is_an_error(url: str) -> None:
    with pytest.raises(ConfigError, match="no address of a server"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["http://user:{}@host/v1", "http://{}@host/v1", "http://host/v1?key={}", "http://h/#{}"]
)
def test_a_key_in_the_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=r"environment variable that model\.api_key_env names") as caught:
        checked_url(url.format(PLANTED))
    assert PLANTED not in str(caught.value)


def test_the_key_is_sent_and_nothing_else_when_there_is_none(
    stub: Stub, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    client(stub).complete(REQUEST, "")
    monkeypatch.delenv(VARIABLE)
    client(stub).complete(REQUEST, "")
    assert stub.keys == [f"Bearer {key}", "Bearer none"]


@pytest.mark.parametrize("variable", ["OPENAI_ADMIN_KEY", "OPENAI_BASE_URL"])
def test_other_variables_of_the_openai_package_are_not_used(
    stub: Stub, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, PLANTED)
    client(stub).complete(REQUEST, "")
    assert stub.keys == ["Bearer none"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500])
def test_a_server_that_quotes_the_key_in_its_refusal_does_not_get_it_into_error_or_log(
    stub: Stub, key: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stub.refuses = Refusal(status, f'{{"error": "{KEY} is not a key that I know"}}')
    with pytest.raises(ArgusError) as caught:
        client(stub).complete(REQUEST, "")
    told = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert stub.keys == [f"Bearer {key}"]
    assert caplog.text
    assert key not in told
    assert (VARIABLE if status in (401, 403) else "<key>") in told


def test_whether_the_key_is_wrong_or_missing_is_told(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.refuses = Refusal(401)
    with pytest.raises(ConfigError, match=f"wants a key: set the environment variable {VARIABLE}"):
        find_served(stub.url, None, VARIABLE)
    monkeypatch.setenv(VARIABLE, PLANTED)
    with pytest.raises(ConfigError, match=f"does not accept the key in the environment variable {VARIABLE}"):
        find_served(stub.url, None, VARIABLE)


@pytest.mark.parametrize("value", [f"{PLANTED} x", f"{PLANTED}\nx", f"{PLANTED}é"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    stub: Stub, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(ConfigError, match=f"{VARIABLE} holds no key") as caught:
        client(stub)
    assert PLANTED not in "".join(traceback.format_exception(caught.value))


def test_the_missing_package_is_an_error_with_its_name(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ConfigError, match=r"pip install 'argus-eval\[server\]'"):
        client(stub)
