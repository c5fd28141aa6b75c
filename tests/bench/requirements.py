#!/usr/bin/env python3
"""Every demand that requirements.txt calls shown stands in the name of a test, and no test names one
that is not listed.

requirements.py SOURCE_FOLDER. It first shows that it can fail.
"""
# SPDX-License-Identifier: Apache-2.0
import re
import sys
from pathlib import Path

ID = r"R[_-][A-Z]{3}[_-]\d+"
# TEST(Suite, R_CLK_1_Name), def test_R_CLK_1_name, add_test(NAME ...R-CLK-1...); several in a row count.
NAMES = (re.compile(rf"^TEST(?:_F|_P)?\(\s*\w+,\s*((?:{ID}_)+)", re.M),
         re.compile(rf"^\s*def test_((?:{ID}_?)+)", re.M),
         re.compile(rf"add_test\(NAME [\w.]*?((?:{ID}_?)+)"))
LINE = re.compile(r"(R-[A-Z]{3}-\d+) (shown|open): (\S.*)")


def named_in(text):
    return {each.replace("_", "-") for pattern in NAMES for found in pattern.findall(text)
            for each in re.findall(ID, found)}


def findings(listing, sources):
    """Lines that say what is wrong. `sources`: name -> text."""
    wrong, states = [], {}
    for number, line in enumerate(listing.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if not match:
            wrong.append(f"requirements.txt:{number}: wants 'R-ABC-n shown|open: what', is '{line}'")
        elif match[1] in states:
            wrong.append(f"requirements.txt:{number}: {match[1]} is there twice")
        else:
            states[match[1]] = match[2]
    tests = {}
    for name, text in sources.items():
        for each in named_in(text):
            tests.setdefault(each, name)
    for each, state in states.items():
        if state == "shown" and each not in tests:
            wrong.append(f"{each}: no test has it in its name")
        if state == "open" and each in tests:
            wrong.append(f"{each}: is open, and {tests[each]} has a test of it")
    wrong += [f"{name}: a test names {each}, which requirements.txt does not list"
              for each, name in tests.items() if each not in states]
    return wrong


def self_test():
    cpp = "TEST(Clock, R_CLK_1_IsSteady) {\n}\nTEST_F(Clock,\n       R_CLK_2_R_SWP_4_X) {}\n// R_CLK_9_ in a comment\n"
    py = "class A:\n    def test_R_STA_10_mean(self):\n"
    assert named_in(cpp) == {"R-CLK-1", "R-CLK-2", "R-SWP-4"}, named_in(cpp)
    assert named_in(py) == {"R-STA-10"}
    assert named_in("add_test(NAME record.R-SYN-9 COMMAND x)") == {"R-SYN-9"}
    good = "# words\n\nR-CLK-1 shown: a\nR-CLK-2 shown: b\nR-STA-10 shown: c\nR-SWP-4 shown: d\nR-EQU-7 open: why\n"
    sources = {"a.cpp": cpp, "b.py": py}
    assert findings(good, sources) == []
    assert findings(good, {"a.cpp": cpp}) == ["R-STA-10: no test has it in its name"]
    assert findings(good.replace("R-EQU-7 open: why", "R-EQU-7 open:"), sources)
    assert findings(good.replace("R-CLK-2 shown", "R-CLK-2 open"), sources)
    assert findings(good.replace("R-CLK-2 shown: b\n", ""), sources)
    assert findings(good + "R-CLK-1 shown: again\n", sources)


def main():
    self_test()
    folder = Path(sys.argv[1]) / "tests"
    sources = {str(path.relative_to(folder)): path.read_text()
               for pattern in ("*.cpp", "*.py", "CMakeLists.txt") for path in sorted(folder.rglob(pattern))
               if path.name != "requirements.py"}
    wrong = findings((folder / "bench/requirements.txt").read_text(), sources)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
