"""Hub repositories: a stub of the hub's answers on this machine, and the hub cache as its library lays it out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import torch

from argus.errors import DataError
from argus.models.clip import Clip
from argus.models.loading import resolve

COMMIT, OLDER = "0123456789abcdef0123456789abcdef01234567", "89abcdef0123456789abcdef0123456789abcdef"
CONFIG = b'{"model_type": "clip"}'
ANSWERS = {
    "open/model": (200, {"X-Repo-Commit": COMMIT, "ETag": '"5f2a"'}),
    "shut/model": (401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to model shut/model is restricted."}),
    "refused/model": (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "You are not in the authorized list."}),
    "no/model": (401, {"X-Error-Code": "RepoNotFound"}),
    "bare/model": (404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}),
}
"""What the hub answers for a file of each repository: https://huggingface.co/docs/hub/models-gated and its library."""

ASK = """
import json, sys
from argus.errors import DataError
from argus.models.loading import resolve
told = {}
for name, revision in json.loads(sys.argv[1]):
    try:
        told[name] = resolve(name, revision).revision
    except DataError as error:
        told[name] = str(error)
print(json.dumps(told))
"""


class Hub(BaseHTTPRequestHandler):
    asked: list[str]

    def answer(self, body: bool) -> None:
        self.asked.append(self.path)
        _, owner, name, _, revision, _ = self.path.split("/", 5)
        status, headers = ANSWERS[f"{owner}/{name}"]
        if revision == "v9":
            status, headers = 404, {"X-Error-Code": "RevisionNotFound"}
        content = CONFIG if status == 200 else b""
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(key, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def log_request(self, *arguments: object) -> None:
        """Keep the terminal quiet."""


@pytest.fixture(scope="module")
def hub() -> Iterator[tuple[str, list[str]]]:
    """The address of a hub on this machine, and what was asked of it."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (Hub,), {"asked": asked}))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def ask(cache: Path, *wanted: tuple[str, str | None], **variables: str) -> dict[str, str]:
    """Resolve repositories in a process of its own: the hub's library reads its variables when it is imported."""
    told = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
    told |= {"HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", **variables}
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(wanted)], env=told, check=True, capture_output=True, text=True
    )
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


def test_what_the_hub_refuses_is_told_with_what_to_do_and_what_it_gives_is_pinned_to_its_commit(hub, tmp_path):
    address, asked = hub
    told = ask(tmp_path, *((name, None) for name in ANSWERS), HF_ENDPOINT=address)
    assert told["open/model"] == COMMIT
    for name in ("shut/model", "refused/model"):
        assert f"'{name}' is gated: accept its licence on https://huggingface.co/{name}" in told[name]
        assert "hf auth login" in told[name]
    assert "check the name on https://huggingface.co/no/model" in told["no/model"]
    assert "'bare/model' has no config.json" in told["bare/model"]
    revision = ask(tmp_path, ("open/model", "v9"), HF_ENDPOINT=address)["open/model"]
    assert "has no revision 'v9'; see https://huggingface.co/open/model/commits" in revision
    del asked[:]
    offline = ask(tmp_path, ("open/model", None), ("shut/model", "main"), HF_ENDPOINT=address, HF_HUB_OFFLINE="1")
    assert offline["open/model"] == COMMIT  # from the cache
    assert "not in the hub cache" in offline["shut/model"]
    assert not asked


@pytest.fixture
def cache(clip_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache with one repository at two commits; the older one's weights are doubled. Nothing can be fetched."""
    from safetensors.torch import load_file, save_file

    repository = tmp_path / "models--someone--clip"
    for commit in (COMMIT, OLDER):
        shutil.copytree(clip_folder, repository / "snapshots" / commit)
    weights = repository / "snapshots" / OLDER / "model.safetensors"
    doubled = {name: value * 2 if value.ndim == 2 else value for name, value in load_file(weights).items()}
    save_file(doubled, weights, metadata={"format": "pt"})
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return repository


def test_offline_a_cached_repository_loads_and_tells_its_commit(cache, clip_folder, runtime, images):
    clip = Clip("someone/clip", None, "longest", runtime)
    assert clip.revision == COMMIT
    expected = Clip(str(clip_folder), None, "longest", runtime).embed_images(images)
    assert torch.equal(clip.embed_images(images), expected)
    other = Clip("someone/clip", OLDER, "longest", runtime)
    assert other.revision == OLDER
    assert (other.embed_images(images) - expected).abs().max() > 1e-3


def test_weights_come_from_the_commit_that_was_resolved_though_the_branch_moves_on(cache, runtime, images, monkeypatch):
    from argus.models import clip as adapter

    def moved(location: str, revision: str | None):
        source = resolve(location, revision)
        (cache / "refs" / "main").write_text(OLDER)
        return source

    expected = Clip("someone/clip", None, "longest", runtime).embed_images(images)
    monkeypatch.setattr(adapter, "resolve", moved)
    clip = Clip("someone/clip", None, "longest", runtime)
    assert clip.revision == COMMIT
    assert torch.equal(clip.embed_images(images), expected)


def test_a_cache_that_lacks_the_weights_is_an_error_that_names_the_repository(cache, runtime):
    (cache / "snapshots" / COMMIT / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"cannot load 'someone/clip' as AutoModel"):
        Clip("someone/clip", None, "longest", runtime)
