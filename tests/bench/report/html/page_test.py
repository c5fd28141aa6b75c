#!/usr/bin/env python3
"""Looks at reports in a headless Chromium, as readers do: narrow and wide, light, dark, on paper.

Usage: page_test.py MAKE_PAGES            pages that a program makes, and tells the pictures of
       page_test.py FILE.html ...         pages that are there
Option: --pictures FOLDER                 keeps what the browser showed, as PNG and PDF

Exit status 77: there is no Chromium.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from devtools import Browser, find_browser

WIDTHS = (400, 1280)
PAPER = 1031  # pixels between the margins of A4, lying
CHECKS = (Path(__file__).parent / "page_checks.js").read_text()


class Page(NamedTuple):
    file: Path
    pictures: int | None = None  # that it must have; None: not known
    missing: int = 0


def made_pages(program: str, folder: Path) -> list[Page]:
    made = subprocess.run([program, str(folder)], check=True, capture_output=True, text=True)
    pages = []
    for line in made.stdout.splitlines():
        name, pictures, missing = line.split()
        pages.append(Page(folder / name, int(pictures), int(missing)))
    if "no pictures:" in made.stderr:
        sys.exit(f"page_test: {made.stderr.strip()}: the pictures cannot be looked at")
    return pages


def described(event: dict[str, Any]) -> str | None:
    """What is wrong with an event; none, if nothing is."""
    method, data = event.get("method"), event.get("params", {})
    if method == "Runtime.exceptionThrown":
        return f"exception: {data['exceptionDetails']}"
    if method == "Runtime.consoleAPICalled" and data["type"] in ("error", "assert", "warning"):
        return f"console: {data['args']}"
    if method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
        return f"log: {data['entry']['text']}"
    return None


def requests(browser: Browser) -> list[str]:
    events = browser.take(lambda event: event.get("method") == "Network.requestWillBeSent")
    return [event["params"]["request"]["url"] for event in events]


def counts_of(page: Page, seen: dict[str, Any]) -> list[str]:
    faults = []
    if page.pictures is not None and seen["pictures"] != page.pictures:
        faults.append(f"{seen['pictures']} pictures, {page.pictures} wanted")
    if page.pictures is not None and seen["missing"] != page.missing:
        faults.append(f"{seen['missing']} figures say why there is none, {page.missing} wanted")
    if seen["tables"] == 0:
        faults.append("no table")
    return faults


def look_at(browser: Browser, page: Page, pictures: Path | None) -> list[str]:
    faults = []
    views = [(width, scheme, "screen") for width in WIDTHS for scheme in ("light", "dark")]
    browser.show(*views[0])
    browser.open(page.file.as_uri())
    for width, scheme, media in [*views, (PAPER, "light", "print"), (PAPER, "dark", "print")]:
        browser.show(width, scheme, media)
        seen = browser.run(CHECKS)
        where = f"{page.file.name} at {width}, {scheme}, {media}"
        faults += [f"{where}: {fault}" for fault in [*seen["faults"], *counts_of(page, seen)]]
        if pictures:
            browser.pictures(pictures / f"{page.file.stem}-{width}-{scheme}-{media}")
    if pictures:
        browser.paper(pictures / f"{page.file.stem}.pdf")
    asked = [url for url in requests(browser) if url != page.file.as_uri() and url != "data:,"]
    faults += [f"{page.file.name} asks for {url}" for url in asked]
    faults += [f"{page.file.name}: {fault}" for fault in map(described, browser.events) if fault]
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("what", nargs="+")
    arguments = parser.parse_args()
    program = find_browser()
    if not program:
        print("page_test: no Chromium here (Debian: chromium)")
        return 77
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stepscope-pages-") as folder:
        if arguments.what[0].endswith(".html"):
            pages = [Page(Path(file).resolve()) for file in arguments.what]
        else:
            pages = made_pages(arguments.what[0], Path(folder))
        faults = []
        with Browser(program) as browser:
            for page in pages:
                faults += look_at(browser, page, arguments.pictures)
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
