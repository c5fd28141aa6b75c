#!/usr/bin/env python3
"""Shows where two outputs of capture_probe differ: the committed one, and one of a machine with a GPU.

Lines that end in [device] are open questions: what the GPU says there settles them, and is no
contradiction. The lines about the machine itself are not compared.
Usage: compare_probe.py EXPECTED ACTUAL; exit status 1 if a line without the mark differs.
"""
# SPDX-License-Identifier: Apache-2.0
import difflib
import re
import sys
from pathlib import Path
from typing import NamedTuple

MARK = "  [device]"
MACHINE = re.compile(r"^(capture_probe|device): ")


class Line(NamedTuple):
    """`rule 03   what it did   -> answer  [device]`, without the padding."""

    asked: str
    answer: str
    marked: bool

    def __str__(self) -> str:
        return f"{self.asked} -> {self.answer}{MARK if self.marked else ''}"


def read(text: str) -> list[Line]:
    lines = []
    for line in text.splitlines():
        if MACHINE.match(line):
            continue
        asked, _, answer = line.partition(" -> ")
        marked = answer.endswith(MARK)
        lines.append(Line(" ".join(asked.split()), answer.removesuffix(MARK), marked))
    return lines


class Differences(NamedTuple):
    contradictions: list[str]  # lines without the mark
    settled: list[str]         # lines with it


def compare(expected: str, actual: str) -> Differences:
    left, right = read(expected), read(actual)
    found = Differences([], [])
    matcher = difflib.SequenceMatcher(None, [line.asked for line in left],
                                      [line.asked for line in right], autojunk=False)
    after_mark = False  # a line that is missing behind an open one follows from its answer
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        if kind == "equal":
            for old, new in zip(left[left_from:left_to], right[right_from:right_to]):
                if old.answer != new.answer:
                    note = f"{old.asked}: expected {old.answer}, got {new.answer}"
                    (found.settled if old.marked else found.contradictions).append(note)
                after_mark = old.marked and old.answer != new.answer
            continue
        target = found.settled if after_mark else found.contradictions
        target.extend(f"missing: {line}" for line in left[left_from:left_to])
        target.extend(f"not expected: {line}" for line in right[right_from:right_to])
    return found


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: compare_probe.py EXPECTED ACTUAL", file=sys.stderr)
        return 2
    expected, actual = (Path(name).read_text() for name in sys.argv[1:])
    found = compare(expected, actual)
    for title, notes in (("contradictions", found.contradictions), ("settled", found.settled)):
        print(f"{title}: {len(notes)}")
        for note in notes:
            print(f"  {note}")
    return 1 if found.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
