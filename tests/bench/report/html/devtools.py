"""A headless Chromium, driven over its DevTools pipe: no port is opened and no package is needed.

Messages are JSON with a zero byte behind each, to descriptor 3 of the browser and from its
descriptor 4.
"""
# SPDX-License-Identifier: Apache-2.0
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
         "--force-color-profile=srgb")
PATIENCE_S = 120  # with one answer: a browser that starts on a busy machine


def find_browser() -> str | None:
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


def high_pipe() -> tuple[int, int]:
    """Ends that lie above the descriptors which the browser gets."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends)
    for end in ends:
        os.close(end)
    return high  # type: ignore[return-value]


class Browser:
    """One browser with one page. Events are kept until they are taken."""

    def __init__(self, program: str) -> None:
        self.home = tempfile.mkdtemp(prefix="stepscope-browser-")
        self.log = Path(self.home) / "log"
        to_browser, self.write_end = high_pipe()
        self.read_end, from_browser = high_pipe()
        log = os.open(self.log, os.O_CREAT | os.O_WRONLY, 0o600)
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2),
                   (os.POSIX_SPAWN_DUP2, to_browser, 3), (os.POSIX_SPAWN_DUP2, from_browser, 4)]
        self.process = os.posix_spawn(
            program, [program, *FLAGS, f"--user-data-dir={self.home}/profile", "about:blank"],
            {**os.environ, "HOME": self.home}, file_actions=actions, setpgroup=0)
        for end in (to_browser, from_browser, log):
            os.close(end)
        self.buffer = b""
        self.number = 0
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self.write_end, self.read_end):
            os.close(end)
        try:
            os.killpg(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.process, 0)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self.read_end, 1 << 16) if ready else b""
            if not data:
                why = "closed the pipe" if ready else f"did not answer in {PATIENCE_S} s"
                raise RuntimeError(f"the browser {why}: {self.log.read_text()[-2000:]}")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self.message()
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def wait_for(self, event: str) -> None:
        seen = next((each for each in self.events if each.get("method") == event), None)
        while not seen:
            message = self.message()
            self.events.append(message)
            seen = message if message.get("method") == event else None

    def open(self, address: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression, in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def show(self, width: int, scheme: str, media: str = "screen") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def pictures(self, stem: Path) -> None:
        """The page from top to bottom, a file for each 1500 pixels: STEM-01.png, ..."""
        width, height = self.run("[innerWidth, document.documentElement.scrollHeight]")
        for number, top in enumerate(range(0, height, 1500), 1):
            part = {"x": 0, "y": top, "width": width, "height": min(1500, height - top), "scale": 1}
            answer = self.call("Page.captureScreenshot", format="png", clip=part,
                               captureBeyondViewport=True)
            stem.with_name(f"{stem.name}-{number:02}.png").write_bytes(
                base64.b64decode(answer["data"]))

    def paper(self, file: Path) -> None:
        answer = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def take(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        return [event for event in self.events if wanted(event)]
