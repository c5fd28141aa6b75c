#!/usr/bin/env python3
"""Fails on what every tracked file must keep: length, first lines, no leftovers, no machine's paths,
no question which of the two CUDA builds it is.

Usage: sources.py [ROOT]
"""
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

MOST_LINES = 500  # of a source file; 300 is the aim
COMMENT = {".h": "//", ".cpp": "//", ".inc": "//", ".cu": "//", ".cuh": "//"}
LICENSED = {*COMMENT, ".py"}
CHECKED = {*LICENSED, ".cmake", ".txt", ".md", ".sh", ".json", ".in", ""}
DATA = ("tests/golden/", "tests/corpus/", "docs/results/")

# Words are split so that this file does not find itself.
LEFTOVERS = re.compile(r"\b(" + "TO" + "DO|" + "FIX" + "ME|" + "X" + "XX|" + "HA" + r"CK)\b")
# Homes and work folders of a machine; what a package installs (/usr) or scratch (/tmp) is none.
MACHINE = re.compile(r'(?:^|[\s"\'(=`:])(/(?:' + "home|root|Users|work|workspace|builds" + r')/[\w.-]+)')

# What tells nvcc's build from the simulator's, and the only file that may ask: any other would be two
# sources, of which the tests run one.
NVCC = re.compile(r"__CUDA" + r"CC__|__CUDA_AR" + r"CH__")
KNOWS_NVCC = "backends/cuda/device_compat.cuh"


def tracked(root: Path) -> list[str]:
    # A checkout may belong to another user than the one who checks it, as in containers.
    listing = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z"],
                             capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"sources: {listing.stderr.strip() or 'git ls-files failed'}")
    return [name for name in listing.stdout.split("\0")
            if name and (root / name).is_file() and not name.startswith(DATA)]


def check_top(suffix: str, lines: list[str]) -> str | None:
    """The first line says what the file is for, and the licence follows the comment."""
    comment = COMMENT.get(suffix)
    if comment and not (lines and lines[0].startswith(comment + " ")):
        return "the first line must say what the file is for"
    licence = f"{comment or '#'} SPDX-License-Identifier: Apache-2.0"
    if licence not in lines[1:40]:
        return f"no line `{licence}` after the first"
    return None


def check_file(root: Path, name: str) -> Iterator[str]:
    suffix = Path(name).suffix
    try:
        lines = (root / name).read_text().splitlines()
    except UnicodeDecodeError:
        yield f"{name}:1: not UTF-8 text"
        return
    if suffix in LICENSED:
        if message := check_top(suffix, lines):
            yield f"{name}:1: {message}"
        if len(lines) > MOST_LINES:
            yield f"{name}:{MOST_LINES + 1}: {len(lines)} lines, the limit is {MOST_LINES}"
    for number, line in enumerate(lines, 1):
        if match := LEFTOVERS.search(line):
            yield f"{name}:{number}: leftover {match.group(1)}: finish it, or write down why not"
        if match := MACHINE.search(line):
            yield f"{name}:{number}: {match.group(1)} is a path of one machine"
        if suffix in COMMENT and name != KNOWS_NVCC and (match := NVCC.search(line)):
            yield f"{name}:{number}: {match.group()} stays in {KNOWS_NVCC}"


def findings(root: Path) -> list[str]:
    return [finding for name in tracked(root) if Path(name).suffix in CHECKED
            for finding in check_file(root, name)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = findings(root)
    for finding in found:
        print(finding)
    print(f"sources: {len(tracked(root))} tracked files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
