#!/usr/bin/env python3
"""Fails on a header that does not compile alone.

A header with a .cpp of the same name is proven by the build: layers.py makes that .cpp include it
first. This compiles each of the others by itself, nothing before it, on every core.
The include folders are those of BUILD/compile_commands.json, all together.
Usage: headers.py ROOT BUILD COMPILER
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("ops", "graph", "backends", "bench", "tests/support")


def headers_without_twin(root: Path) -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.h"))
            if not path.with_suffix(".cpp").exists()]


def include_flags(build: Path) -> list[str]:
    flags: dict[str, None] = {}  # a set that keeps its order
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for word, following in zip(words, words[1:] + [""]):
            if word in ("-isystem", "-I"):
                flags[f"-isystem{following}" if word == "-isystem" else f"-I{following}"] = None
            elif word.startswith("-I"):
                flags[word] = None
    return list(flags)


def first_error(root: Path, compiler: str, flags: list[str], header: Path) -> str | None:
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{root}", *flags,
               "-include", str(header), "-x", "c++", "/dev/null"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return None
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    name = header.relative_to(root).as_posix()
    return f"{name}: does not compile alone: {errors[0] if errors else result.stderr.strip()}"


def findings(root: Path, compiler: str, flags: list[str]) -> list[str]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = pool.map(lambda header: first_error(root, compiler, flags, header),
                          headers_without_twin(root))
        return [error for error in errors if error]


def main() -> int:
    if len(sys.argv) != 4:
        print("usage: headers.py ROOT BUILD COMPILER", file=sys.stderr)
        return 2
    root = Path(sys.argv[1]).resolve()
    found = findings(root, sys.argv[3], include_flags(Path(sys.argv[2])))
    for finding in found:
        print(finding)
    count = len(headers_without_twin(root))
    print(f"headers: {count} compiled alone, {len(found)} findings")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
