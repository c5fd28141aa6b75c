#!/usr/bin/env python3
"""Fails on an include or a CMake link that points up, and on a library outside its folder.

Reads the text of sources and CMake lists, so it needs no build; the tables are in rules.py.
Refuses to guess: what cannot be checked (an include or a link by variable) is a finding.
Usage: layers.py [ROOT]
"""
# SPDX-License-Identifier: Apache-2.0
import re
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

import rules

SOURCES = {".h", ".cpp", ".inc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>|(\S+))')
COMMAND = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
LINK_WORDS = {"PUBLIC", "PRIVATE", "INTERFACE"}


class Finding(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def inside(folder: str, parents: tuple[str, ...] | list[str]) -> bool:
    return any(folder == parent or folder.startswith(parent + "/") for parent in parents)


def row_of(path: str) -> str | None:
    """The row of FOLDERS that a file or folder belongs to: the longest, then the wildcard."""
    parts = path.split("/")
    for count in range(len(parts), 1, -1):
        if "/".join(parts[:count]) in rules.FOLDERS:
            return "/".join(parts[:count])
    wildcard = f"{parts[0]}/*"
    return wildcard if len(parts) > 1 and wildcard in rules.FOLDERS else None


def allowed(row: str, folder: str, target: str) -> bool:
    """Whether a file in `folder`, which belongs to `row`, may use `target`, a file or a folder."""
    own = "/".join(folder.split("/")[:2]) if row.endswith("/*") else row
    if inside(target, [own]):
        return True
    names = rules.FOLDERS[row].split()
    if row_of(target) in names:
        return True
    return inside(target, [name for name in names if not name.endswith("/*")])


def why_not(folder: str, target: str) -> str | None:
    """Why a file in `folder` must not use `target`, or None."""
    row = row_of(folder)
    if row is None:
        return f"{folder} is in no row of tests/layers/rules.py: add it where it belongs"
    floor, other = folder.split("/")[0], target.split("/")[0]
    if rules.FLOORS.index(other) > rules.FLOORS.index(floor):
        return f"{floor} must not use {target}: the floors are {' <- '.join(rules.FLOORS)}"
    if not allowed(row, folder, target):
        return f"{folder} must not use {target}: it may use {rules.FOLDERS[row] or 'nothing else'}"
    return None


def library_of(name: str, field: str) -> rules.Library | None:
    """The library with the longest beginning of `name`: CUDA::cupti is CUPTI's, not CUDA's."""
    hits = [(len(start), library) for library in rules.LIBRARIES
            for start in getattr(library, field)
            if name == start or (name.startswith(start) and (len(start) > 1))]
    return max(hits, key=lambda hit: hit[0])[1] if hits else None


def why_not_library(folder: str, name: str, field: str) -> str | None:
    library = library_of(name, field)
    if library is None:
        return f"{name} belongs to no library of tests/layers/rules.py"
    if inside(folder, library.folders):
        return None
    where = " or ".join(library.folders) or "tests"
    return f"{library.name} ({name}) stays in {where}"


def check_include(root: Path, folder: str, match: re.Match[str]) -> str | None:
    quoted, angled, other = match.groups()
    if other:
        return f"#include {other}: an include must name its file"
    target = quoted or angled
    top = target.split("/")[0]
    if top == "tests":
        return f"{folder} must not use {target}: only tests use tests"
    if top in rules.FLOORS:
        if angled:
            return f"<{target}> is a file of this project: write it in quotes"
        return why_not(folder, target)
    if quoted and library_of(target, "includes") is None:
        return f'"{target}" must be a path from the root of the project'
    if library_of(target, "includes") is None:
        standard = "/" not in target and ("." not in target or target.endswith(".h"))
        if standard or target.startswith(rules.SYSTEM_INCLUDES):
            return None
    return why_not_library(folder, target, "includes")


def source_files(root: Path, tops: tuple[str, ...]) -> Iterator[Path]:
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                yield path


def check_includes(root: Path) -> Iterator[Finding]:
    for path in source_files(root, rules.FLOORS):
        name = path.relative_to(root).as_posix()
        folder = path.parent.relative_to(root).as_posix()
        first = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            first = first or (number, match.group(1))
            if message := check_include(root, folder, match):
                yield Finding(name, number, message)
        own = path.with_suffix(".h")
        if path.suffix == ".cpp" and own.exists():
            own_name = own.relative_to(root).as_posix()
            if first is None or first[1] != own_name:
                yield Finding(name, first[0] if first else 1,
                              f'the first include must be "{own_name}", which proves that it '
                              "compiles alone")


class Command(NamedTuple):
    path: str
    folder: str
    line: int
    name: str
    words: list[str]


def cmake_commands(root: Path, tops: tuple[str, ...]) -> Iterator[Command]:
    for top in tops:
        for path in sorted((root / top).rglob("CMakeLists.txt")):
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for match in COMMAND.finditer(text):
                yield Command(path.relative_to(root).as_posix(),
                              path.parent.relative_to(root).as_posix(),
                              text.count("\n", 0, match.start()) + 1, match.group(1).lower(),
                              match.group(2).replace('"', " ").split())


def target_folders(commands: list[Command]) -> dict[str, str]:
    """Folder of each project target, under both of its names."""
    folders = dict(rules.MADE_BY_FUNCTIONS)
    for command in commands:
        if not command.words:
            continue
        name = command.words[0]
        if command.name == "stepscope_library":
            folders[f"stepscope_{name}"] = folders[f"stepscope::{name}"] = command.folder
        elif command.name in ("add_library", "add_executable") and "ALIAS" not in command.words:
            folders[name] = command.folder
    return folders


def links_of(command: Command) -> tuple[str, list[str]] | None:
    """The target that a command links, and to what; None for other commands."""
    if command.name == "stepscope_library" and "LINKS" in command.words:
        return (f"stepscope_{command.words[0]}",
                command.words[command.words.index("LINKS") + 1:])
    if command.name == "target_link_libraries":
        return command.words[0], [word for word in command.words[1:] if word not in LINK_WORDS]
    return None


def check_link(folder: str, link: str, folders: dict[str, str]) -> str | None:
    if link in folders:
        return why_not(folder, folders[link])
    if link in rules.SYSTEM_TARGETS or link == "stepscope_flags":
        return None
    if "${" in link:
        if inside(folder, rules.LINKS_BY_VARIABLE):
            return None
        return f"links {link}: a link must name its target"
    if link.startswith(("stepscope::", "stepscope_")):
        return f"links {link}, which no folder of the floors makes"
    return why_not_library(folder, link, "targets")


def check_links(root: Path) -> Iterator[Finding]:
    commands = list(cmake_commands(root, rules.FLOORS))
    folders = target_folders(commands)
    for command in commands:
        if command.name == "find_package" and command.words[0] not in rules.SYSTEM_PACKAGES:
            if message := why_not_library(command.folder, command.words[0], "packages"):
                yield Finding(command.path, command.line, f"find_package: {message}")
        linked = links_of(command)
        if linked is None:
            continue
        folder = folders.get(linked[0], command.folder)
        for link in linked[1]:
            if message := check_link(folder, link, folders):
                yield Finding(command.path, command.line, f"{linked[0]}: {message}")


def check_sources_listed(root: Path) -> Iterator[Finding]:
    """A .cpp that no CMake list names would never be compiled, and nobody would notice."""
    listed = {f"{command.folder}/{word}" for command in cmake_commands(root, rules.FLOORS)
              for word in command.words if word.endswith(".cpp")}
    for path in source_files(root, rules.FLOORS):
        name = path.relative_to(root).as_posix()
        if path.suffix == ".cpp" and name not in listed:
            yield Finding(name, 1, "no CMakeLists.txt names this file")


def check_rules() -> Iterator[Finding]:
    """The table itself has no cycle: each row names only rows above it."""
    above: list[str] = []
    for row, names in rules.FOLDERS.items():
        for name in names.split():
            if row_of(name) not in above and not any(inside(known, [name]) for known in above):
                yield Finding("tests/layers/rules.py", 1, f"{row} names {name}, no row above it")
        above.append(row)


def findings(root: Path) -> list[Finding]:
    return [*check_rules(), *check_includes(root), *check_links(root), *check_sources_listed(root)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = findings(root)
    for finding in found:
        print(finding)
    count = sum(1 for _ in source_files(root, rules.FLOORS))
    print(f"layers: {count} source files, {len(found)} findings")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
