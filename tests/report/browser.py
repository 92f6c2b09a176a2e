"""Headless Chromium for tests: loads a page from its file, fails on a console error or a request beyond the page.

It speaks the DevTools protocol over two pipes, which Chromium offers by itself: no driver of the same version, no
package and no open port are needed, and console, exceptions, violations of the page's policy and requests all arrive
as events.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # root has none
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
ANSWER_SECONDS = 60.0
LOCAL = ("data:", "blob:", "about:")
"""Addresses that stay inside the page."""


def program() -> str | None:
    """Return Chromium's path, or ``None`` where it is not installed."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


needs_browser = pytest.mark.skipif(program() is None, reason="Chromium is not installed (Debian: chromium)")


class PageError(AssertionError):
    """What a page did that it must not do, or a script that failed in it."""


class Page:
    """One loaded page. Whatever goes wrong in it is collected, and raised by ``check`` and at the end."""

    def __init__(self, folder: Path, size: tuple[int, int]) -> None:
        found = program()
        if found is None:
            pytest.skip("Chromium is not installed (Debian: chromium)")
        self.problems: list[str] = []
        self._own: str | None = None
        self._number = 0
        self._buffer = b""
        self._folder = folder
        self._events: list[dict[str, Any]] = []
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={size[0]},{size[1]}"]

        def as_three_and_four() -> None:
            high = [os.dup(commands), os.dup(answers)]  # neither is 3 or 4 already
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [found, *flags, "about:blank"],
            preexec_fn=as_three_and_four,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(commands)
        os.close(answers)
        try:
            self._session: str | None = None
            targets = self.command("Target.getTargets")["targetInfos"]
            target = next(t["targetId"] for t in targets if t["type"] == "page")
            attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.command(f"{domain}.enable")
            self.command("Network.setCacheDisabled", cacheDisabled=True)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.close()

    def close(self) -> None:
        """End the browser."""
        for end in (self._to, self._from):
            os.close(end)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def load(self, html: str | bytes) -> None:
        """Write a page to a file of its own and load it from there."""
        path = self._folder / "page.html"
        path.write_bytes(html if isinstance(html, bytes) else html.encode())
        self.open(path)

    def open(self, path: Path) -> None:
        """Load a page from its file and wait until it is complete."""
        self._own = path.resolve().as_uri()
        self.command("Page.navigate", url=self._own)
        self._until("Page.loadEventFired")
        self.check()

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is awaited."""
        told = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise PageError(_exception(told["exceptionDetails"]))
        self.check()
        return told["result"].get("value")

    def wait_for(self, script: str, seconds: float = ANSWER_SECONDS) -> Any:
        """Return the value of an expression once it is true."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            if time.monotonic() > end:
                raise PageError(f"this did not become true within {seconds:g} s: {script}")
            time.sleep(0.02)
        return value

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what a JavaScript function gives for arguments, which travel as JSON."""
        return self.evaluate(f"({function})(...{json.dumps(arguments)})")

    def press(self, *keys: str) -> None:
        """Press keys by their DOM names, such as ``Tab``, ``ArrowRight``, ``Enter`` or ``7``."""
        for key in keys:
            code = CODES.get(key, ord(key[0].upper()))
            text = {"Enter": "\r", "Space": " "}.get(key, key if len(key) == 1 else "")
            named = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code}
            self.command("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **named)
            self.command("Input.dispatchKeyEvent", type="keyUp", **named)

    def drag(self, points: Sequence[tuple[float, float]]) -> None:
        """Press the mouse at the first point of the window, move along the others and let go at the last."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 1)]
        for kind, (x, y) in zip(kinds, points, strict=True):
            self._mouse(kind, x, y)
        self._mouse("mouseReleased", *points[-1])

    def click(self, selector: str) -> None:
        """Click the middle of an element, with the mouse, where the visitor sees it."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        self.drag([self.middle(selector)])

    def middle(self, selector: str) -> tuple[float, float]:
        """Return the middle of an element in the window."""
        box = self.box(selector)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def box(self, selector: str) -> dict[str, float]:
        """Return where an element is in the window."""
        found = self.evaluate(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        return {key: float(found[key]) for key in ("x", "y", "width", "height")}

    def _mouse(self, kind: str, x: float, y: float) -> None:
        buttons = 0 if kind == "mouseReleased" else 1
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def resize(self, width: int, height: int, *, dark: bool = False, scale: float = 1.0) -> None:
        """Give the window another size, and the visitor's preference for light or dark colours."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **metrics)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path: Path, selector: str | None = None) -> Path:
        """Write a PNG of the whole page, or of one element of it."""
        options: dict[str, Any] = {}
        if selector is not None:
            place = (
                f"(e => {{ const b = e.getBoundingClientRect(); return {{x: b.x + scrollX, y: b.y + scrollY, "
                f"width: b.width, height: b.height, scale: 1}} }})(document.querySelector({json.dumps(selector)}))"
            )
            options["clip"] = self.evaluate(place)
        told = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, **options)
        path.write_bytes(base64.b64decode(told["data"]))
        return path

    def check(self) -> None:
        """Raise what has gone wrong in the page so far."""
        if self.problems:
            raise PageError("; ".join(self.problems))

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a command of the DevTools protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error'].get('message')}")
                result: dict[str, Any] = answer["result"]
                return result

    def _until(self, event: str) -> None:
        while not any(seen["method"] == event for seen in self._events):
            self._receive()
        self._events.clear()

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], ANSWER_SECONDS)[0]:
                raise PageError(f"Chromium did not answer within {ANSWER_SECONDS:g} s")
            part = os.read(self._from, 1 << 20)
            if not part:
                raise PageError("Chromium ended by itself")
            self._buffer += part
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        if "method" in message:
            self._events.append(message)
            self._judge(message["method"], message["params"])
        return message

    def _judge(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(_exception(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert", "warning"):
            texts = (str(part.get("value", part.get("description"))) for part in told["args"])
            self.problems.append(f"console {told['type']}: {' '.join(texts)}")
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{told['entry']['source']}: {told['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if url.partition("#")[0] != self._own and not url.startswith(LOCAL):
                self.problems.append(f"request for {url[:200]}")
        elif method == "Network.webSocketCreated":
            self.problems.append(f"web socket to {told['url'][:200]}")


CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36}
CODES |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46}


def _exception(details: dict[str, Any]) -> str:
    thrown = details.get("exception", {})
    return f"exception: {thrown.get('description') or thrown.get('value') or details.get('text')}"


@contextmanager
def opened(size: tuple[int, int] = (1200, 900)) -> Iterator[Page]:
    """Yield a browser with an empty page; what went wrong in it is raised at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="sparsegen-", ignore_cleanup_errors=True) as folder,
        Page(Path(folder), size) as page,
    ):
        yield page
