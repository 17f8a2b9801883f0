"""The report as Chromium shows it: each plot drawn, no complaint, no request, and nothing wider than the screen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from argus.report.html.page import page

PATIENCE = 60  # seconds for one answer
OPTIONS = (
    "--headless",
    "--no-sandbox",  # CI is root
    "--disable-gpu",
    "--disable-dev-shm-usage",  # a container's is small
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a broken page, and Chromium itself, reach nobody
    "--no-first-run",
    "--remote-debugging-pipe",
)
# Waits in the page's own time, in which a busy machine is not slow: until it is loaded and no more plots get drawn.
# A mark is what a trace draws of its data; axes, grid and legend are none.
MEASURE = """(async () => {
  const marks = ":is(.trace .point, .trace .js-line, .trace .js-fill, .barlayer .point path, .hm image)";
  const size = (one) => one.getBoundingClientRect();
  const shown = (one) => size(one).width + size(one).height > 0;
  const plots = () => [...document.querySelectorAll(".plot")];
  const bare = () => plots().filter((plot) => ![...plot.querySelectorAll(".main-svg " + marks)].some(shown));
  const pause = () => new Promise((resume) => setTimeout(resume, 100));
  while (document.readyState !== "complete") await pause();
  let before;
  do {
    before = bare().length;
    await pause();
  } while (bare().length && bare().length < before);
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const texts = [document.body, ...document.querySelectorAll(".plot :is(.xtick, .ytick) text")];
  const ink = (one) => getComputedStyle(one)[one === document.body ? "color" : "fill"];
  return {
    plots: plots().length,
    bare: bare().map((plot) => plot.ariaLabel),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    inks: [...new Set(texts.map(ink))],
    width: document.documentElement.scrollWidth,
  };
})()"""


@dataclass(frozen=True)
class View:
    width: int
    height: int
    scheme: str
    phone: bool = False


VIEWS = {
    "light": View(1280, 900, "light"),
    "dark": View(1280, 900, "dark"),
    "phone": View(390, 844, "light", phone=True),
}


@dataclass(frozen=True)
class Seen:
    """What a page showed: `bare` plots have no mark, `inks` are its texts' colours, `width` is with tables unfolded."""

    plots: int
    bare: list[str]
    dark: bool
    inks: list[str]
    width: int
    complaints: list[str]
    requests: list[str]


def faults(seen: Seen, view: View) -> dict[str, Any]:
    """Return what a reader would miss or mind, by kind."""
    dark = view.scheme == "dark"
    pale = [int(ink.removeprefix("rgb(").split(",")[0]) > 127 for ink in seen.inks]
    found = {
        "plots": seen.bare if seen.plots else "there are none",
        "colours": seen.inks if seen.dark != dark or pale != [dark] else [],
        "width": seen.width if seen.width > view.width else 0,
        "complaints": seen.complaints,
        "requests": seen.requests,
    }
    return {kind: fault for kind, fault in found.items() if fault}


def complaint(event: dict[str, Any]) -> str:
    """Return an error or a warning as the console words it; "" for all other events."""
    told = event["params"]
    match event["method"]:
        case "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            return details.get("exception", {}).get("description", details["text"])
        case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
            return " ".join(str(one.get("value", one.get("description"))) for one in told["args"])
        case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
            return told["entry"]["text"]
    return ""


class Browser:
    """Chromium, told what to do in its DevTools protocol: JSON that ends in a zero byte, on its descriptors 3 and 4."""

    def __init__(self, program: str, folder: Path) -> None:
        self.ours, theirs = socket.socketpair()
        self.ours.settimeout(PATIENCE)
        self.log = folder / "log.txt"
        start = f'exec "$@" 3<&{theirs.fileno()} 4>&{theirs.fileno()}'
        with theirs, self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", start, "bash", program, *OPTIONS, f"--user-data-dir={folder / 'profile'}"],
                pass_fds=[theirs.fileno()],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.asked = 0
        self.unread = b""
        self.events: list[dict[str, Any]] = []

    def read(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            more = self.ours.recv(1 << 16)
            assert more, f"Chromium ended: {self.log.read_text()}"
            self.unread += more
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Return the answer to one command; what pages tell meanwhile is added to `events`."""
        self.asked += 1
        command = {"id": self.asked, "method": method, "params": params} | ({"sessionId": session} if session else {})
        self.ours.sendall(json.dumps(command).encode() + b"\0")
        while (answer := self.read()).get("id") != self.asked:
            self.events.append(answer)
        return answer["result"]

    def see(self, file: Path, view: View) -> Seen:
        """Return what a file shows in a new tab once all is drawn that ever will be."""
        self.events.clear()
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable", session)
        size = {"width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": view.phone}
        self.ask("Emulation.setDeviceMetricsOverride", session, **size)
        scheme = {"name": "prefers-color-scheme", "value": view.scheme}
        self.ask("Emulation.setEmulatedMedia", session, features=[scheme])
        self.ask("Page.navigate", session, url=file.as_uri())
        measured = self.ask("Runtime.evaluate", session, expression=MEASURE, awaitPromise=True, returnByValue=True)
        self.ask("Target.closeTarget", targetId=target)
        told = [event for event in self.events if event.get("sessionId") == session]
        complaints = [words for event in told if (words := complaint(event))]
        sent = [event["params"]["request"] for event in told if event["method"] == "Network.requestWillBeSent"]
        urls = [one["url"] for one in sent]
        requests = [url for url in urls if url != file.as_uri() and not url.startswith("data:")]
        return Seen(**measured["result"]["value"], complaints=complaints, requests=requests)

    def close(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.ours.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None or "/snap/" in program:
        pytest.skip("no Chromium (a snap reads no file in /tmp) to open the report in: apt-get install chromium")
    browser = Browser(program, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("analysis", ["small", "gaps"])
def test_a_reader_finds_no_fault(analysis, view, background, browser, tmp_path, request):
    file = tmp_path / "report.html"
    file.write_text(page(request.getfixturevalue(analysis), background))
    assert faults(browser.see(file, VIEWS[view]), VIEWS[view]) == {}


DARK_PHONE = View(390, 844, "dark", phone=True)
BEFORE = "</footer>"
BREAKS = {
    "error": (BEFORE, "<script>console.error('broken')</script>", {"complaints"}),
    "warning": (BEFORE, "<script>console.warn('broken')</script>", {"complaints"}),
    "exception": (BEFORE, "<script>throw new Error('broken')</script>", {"complaints"}),
    "image": (BEFORE, "<img src='https://broken.example/a.png'>", {"complaints", "requests"}),
    "wide": (BEFORE, "<div style='width: 391px; margin-left: calc(-1 * .7rem)'>broken</div>", {"width"}),
    "no marks": ("Plotly.newPlot(place, data,", "Plotly.newPlot(place, [],", {"plots"}),
    "no plots": ('class="plot"', 'class="broken"', {"plots"}),
    "no numbers": (
        '<script type="application/json">',
        '<script type="application/json">broken',
        {"plots", "complaints"},
    ),
    "ink": ("font: { color: ink,", "font: { color: 'black',", {"colours"}),
    "light": ("@media (prefers-color-scheme: dark)", "@media print", {"colours"}),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_page_is_noticed(broken, small, background, browser, tmp_path):
    old, new, kinds = BREAKS[broken]
    whole = page(small, background)
    assert old in whole
    file = tmp_path / "report.html"
    file.write_text(whole.replace(old, new))
    assert set(faults(browser.see(file, DARK_PHONE), DARK_PHONE)) == kinds
