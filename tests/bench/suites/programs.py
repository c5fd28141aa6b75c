"""The bench_* programs as tests run them: short, on a small model, on the backend that is always
there.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MODEL = "mlp:16-8-4"
SMALL = ("--model", MODEL, "--backend", "reference", "--batch", "4")
QUICK = "--benchmark_min_time=0.001"

ROOT = BIN = Path()


def take_arguments():
    """SOURCE_FOLDER BIN_FOLDER [NAME_OF_TEST]..."""
    global ROOT, BIN
    ROOT, BIN = (Path(sys.argv.pop(1)).resolve() for _ in range(2))


class Programs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="stepscope-suites-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def run_program(self, program, *words, status=0):
        done = subprocess.run([BIN / program, *map(str, words)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def names(self, program, *words):
        return self.run_program(program, *words, "--benchmark_list_tests").stdout.split()

    def results(self, program, *words):
        """The JSON that the library writes."""
        done = self.run_program(program, *words, QUICK, "--benchmark_format=json")
        return json.loads(done.stdout)

    def record(self, program, *words):
        """The sidecar of a run, and what the library wrote."""
        raw = self.folder / "raw.json"
        results = self.results(program, *words, "--raw", raw)
        return json.loads(raw.read_text()), results

    def data_of_16_pixels(self):
        """A folder of data: MODEL reads them, and a model of other inputs fails."""
        folder = self.folder / "data"
        folder.mkdir()
        for part, count in (("train", 40), ("t10k", 10)):
            images = struct.pack(">4i", 0x803, count, 4, 4) + bytes(range(160)) * (count // 10)
            labels = struct.pack(">2i", 0x801, count) + bytes(range(4)) * (count // 4) + bytes(count % 4)
            (folder / f"{part}-images-idx3-ubyte").write_bytes(images)
            (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)
        return folder

    def wrong(self, program, *words):
        """The one line that a mistake gets, with status 2."""
        done = self.run_program(program, *words, status=2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr.strip()
