#!/usr/bin/env python3
"""Two outputs of a bench_* program through the library's own compare.py.

compare_test.py SOURCE_FOLDER BIN_FOLDER [NAME_OF_TEST]. Exits with 77, saying why, where the tool
(Debian: libbenchmark-tools) or the scipy it imports (python3-scipy) is not there.
STEPSCOPE_COMPARE_PY may name the tool.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import programs
from programs import QUICK, SMALL, Programs

SKIPPED = 77


def find_tool():
    places = [os.environ.get("STEPSCOPE_COMPARE_PY"), shutil.which("compare.py"),
              "/usr/share/benchmark/tools/compare.py", "/usr/share/benchmark/compare.py"]
    return next((Path(place) for place in places if place and Path(place).is_file()), None)


TOOL = find_tool()
PYTHON = sys.executable


def compare(*words):
    return subprocess.run([PYTHON, TOOL, "--no-color", *map(str, words)], capture_output=True,
                          text=True, check=False)


def find_python():
    """Whichever can run it: a Python that is not Debian's does not see Debian's scipy."""
    global PYTHON
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        PYTHON = python
        done = compare("--help")
        if done.returncode == 0:
            return None
    return done.stderr.strip().splitlines()[-1]


class Compare(Programs):
    def output(self, name):
        out = self.folder / name
        self.run_program("bench_step", *SMALL, QUICK, "--benchmark_filter=unfused",
                         "--benchmark_repetitions=3", f"--benchmark_out={out}")
        return out

    def test_two_runs(self):
        before, after = self.output("before.json"), self.output("after.json")
        difference = self.folder / "difference.json"
        done = compare("--dump_to_json", difference, "benchmarks", before, after)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [row for row in json.loads(difference.read_text()) if row["run_type"] == "iteration"]
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertIn(row["name"], done.stdout)
            self.assertEqual(len(row["measurements"]), 3)
            self.assertEqual(row["time_unit"], "us")

    def test_two_modes_of_one_run(self):
        run = self.output("run.json")
        done = compare("filters", run, "eager", "graph")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[eager vs. graph]", done.stdout)


if __name__ == "__main__":
    if TOOL is None:
        print("skipped: no compare.py of Google Benchmark; Debian: libbenchmark-tools")
        sys.exit(SKIPPED)
    if why := find_python():
        print(f"skipped: {why}; Debian: python3-scipy")
        sys.exit(SKIPPED)
    programs.take_arguments()
    unittest.main()
