#!/usr/bin/env python3
"""stepscope-sim as a new user sees it: cuda-sim trains like the reference backend, is labelled wherever
it is named, and no ratio, verdict or break-even is printed from its times.

Usage: simulated_test.py STEPSCOPE_SIM [NAME_OF_TEST]
"""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kept_records import keep

PROGRAM = ""
SMALL = ("--model", "mlp:64-8-4", "--data", "generated", "--batch", "16")
WHY = "no time of cuda-sim is one of a GPU"
TIMES = ("device times of cuda-sim are values of the simulator's model; its others are what simulating took on "
         "this processor, no time of a GPU")
VERDICTS = re.compile(r"\b(FASTER|SLOWER|SAME|UNDECIDED)\b")


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr}"
    return done


def unwrapped(text):
    return re.sub(r"\s+", " ", text)


class Simulated(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="stepscope-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def record(self, *words):
        file = self.folder / "record.json"
        run(*words, "--quiet", "--json", file)
        keep(file.read_text())
        return json.loads(file.read_text())

    def test_devices_say_what_it_is(self):
        lines = run("devices").stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("cuda-sim"))
        self.assertIn("available", lines[at])
        self.assertIn(f"simulated: {TIMES}", lines[at + 1])
        self.assertEqual(sum("simulated:" in line for line in lines), 1)

    def train(self, backend, *words):
        return self.record("train", *SMALL, "--epochs", "1", "--steps", "6", "--loss-every", "1",
                           "--backend", backend, *words)

    def test_training_has_the_losses_of_the_reference_and_exact_counts(self):
        reference = self.train("reference")
        losses = []
        for words in (("--mode", "eager"), ("--mode", "planned"), ("--mode", "graph"),
                      ("--record", "nodes"), ("--input-copy", "inside"),
                      ("--record", "nodes", "--input-copy", "inside")):
            record = self.train("cuda-sim", "--fusion", "off", *words)
            arm, epoch = record["arms"][0], record["epochs"][0]
            losses.append((epoch["training_loss"], epoch["validation_loss"]))
            self.assertAlmostEqual(losses[-1][0], reference["epochs"][0]["training_loss"], delta=1e-5)
            self.assertEqual(losses[-1], losses[0], words)  # bit for bit
            graph = words[0] != "--mode" or words[1] == "graph"
            training = record["submissions"][0]
            self.assertEqual((training["steps"], training["graph_launches"]), (6, 6 if graph else 0))
            self.assertEqual(arm["recorded_as"],
                             "" if not graph else "nodes" if "nodes" in words else "capture")
            self.assertEqual(arm["inputs_copied"], "inside" if "inside" in words else "outside")
            self.assertTrue(arm["simulated"])
            self.assertEqual((record["status"], record["status_reason"]), ("simulated", WHY))
        self.assertFalse(reference["arms"][0]["simulated"])
        self.assertEqual(reference["status"], "complete")

    def test_a_terminal_shows_the_label_first(self):
        done = run("train", *SMALL, "--epochs", "1", "--steps", "2", "--backend", "cuda-sim")
        lines = done.stdout.splitlines()
        self.assertIn("on cuda-sim (simulated), graph", lines[0])
        self.assertEqual(lines[1], f"simulated: {TIMES}")

    def compare(self, *words):
        done = run("compare", *SMALL, "--budget", "2s", "--out", self.folder / "out", *words)
        text = (self.folder / "out" / "record.json").read_text()
        keep(text)
        return json.loads(text), done.stdout

    def test_a_comparison_has_counts_and_no_ratio(self):
        record, text = self.compare("--backend", "cuda-sim")
        self.assertEqual((record["status"], record["status_reason"]), ("simulated", WHY))
        self.assertIsNone(record["schedule"])
        self.assertGreater(len(record["pairs"]), 3)
        for pair in record["pairs"]:
            self.assertIsNone(pair["break_even"])
            for ratio in pair["ratios"]:
                self.assertEqual(ratio["reason"], WHY)
                self.assertEqual([name for name, value in ratio.items()
                                  if isinstance(value, (dict, float))], [])
        for gate in record["gates"]:
            self.assertTrue(gate["passed"], gate)
        for arm in record["arms"]:
            self.assertTrue(arm["simulated"])
            self.assertGreater(arm["counts_per_step"]["calls"], 0)
            self.assertGreater(arm["device_summary"]["count"], 0)
        page = (self.folder / "out" / "report.md").read_text()
        for shown in (text, page.split("## Is the difference")[0]):
            self.assertIsNone(VERDICTS.search(shown), shown)
            self.assertIn(WHY, unwrapped(shown))
            self.assertNotIn("time ratio", shown)
            self.assertNotIn("not measured " + WHY, unwrapped(shown))
        for cells in (line.split("|") for line in page.splitlines() if line.startswith("| ")):
            for cell in map(str.strip, cells):
                self.assertNotIn(cell, ("cuda-sim", "FASTER", "SLOWER", "SAME", "UNDECIDED"))
        html = (self.folder / "out" / "report.html").read_text()
        self.assertIn("cuda-sim (simulated)", html)
        self.assertIn(WHY, unwrapped(html))

    def test_beside_a_measured_backend(self):
        record, text = self.compare("--backend", "reference,cuda-sim", "--mode", "planned,graph",
                                    "--fusion", "on")
        self.assertNotEqual(record["status"], "simulated")
        between = [pair for pair in record["pairs"]
                   if pair["base"].split("/")[0] != pair["of"].split("/")[0]]
        self.assertEqual([pair["ratios"][0]["reason"] for pair in between], [WHY] * len(between))
        self.assertGreater(len(between), 0)
        own = [pair for pair in record["pairs"]
               if pair["kind"] == "arm" and pair["base"].startswith("reference")
               and pair["of"].startswith("reference")]
        self.assertTrue(own and all(pair["ratios"][0]["time_ratio"] for pair in own))
        self.assertIn("cuda-sim (simulated)", text)
        done = run("compare", *SMALL, "--budget", "2s", "--backend", "cuda-sim", "--quiet", "--fail-on",
                   "slower", "--mode", "graph", status=1)
        self.assertIn("stepscope-sim: --fail-on: cannot tell: simulated", done.stderr)
        rows = {row["name"]: row for row in record["calibration"]}
        self.assertIn("library_call/reference", rows)
        self.assertEqual(rows["library_call/cuda-sim"]["reason"], WHY)
        self.assertNotIn("library_call", rows)

    def test_report_of_the_record(self):
        record, _ = self.compare("--backend", "cuda-sim", "--mode", "eager,graph", "--fusion", "off")
        self.assertEqual(len(record["arms"]), 2)
        shown = run("report", self.folder / "out").stdout
        self.assertIn("cuda-sim (simulated)", shown)
        self.assertIsNone(VERDICTS.search(shown))

    def test_what_is_not_there_is_refused_by_name(self):
        for words, message in (
                (("--backend", "reference", "--record", "nodes"),
                 "reference: records as tape, not as nodes"),
                (("--backend", "cuda-sim", "--record", "tape"), "cuda-sim: "),
                (("--backend", "reference", "--tf32", "on"), "reference: has no TF32"),
                (("--backend", "cuda-sim", "--tf32", "on"), "cuda-sim: does not simulate products with TF32"),
                (("--backend", "reference", "--input-copy", "inside"),
                 "reference: records a tape, which holds no copies")):
            for mode in ("eager", "graph"):
                done = run("train", *SMALL, "--epochs", "1", "--steps", "1", "--mode", mode, *words, status=1)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")  # before the first line
            for command in (("compare", "--budget", "2s"), ("explain",)):
                done = run(*command, "--model", "mlp:64-8-4", "--batch", "16", *words, status=1)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")
        done = run("train", *SMALL, "--backend", "cuda", status=2)
        self.assertIn("--backend cuda: not part of this build, which has ", done.stderr)
        self.assertNotIn("did you mean", done.stderr)
        done = run("compare", *SMALL, "--backend", "cuda-sim", "--self-check", "--quick", status=1)
        self.assertIn(WHY, done.stderr)
        done = run("lab", "--backend", "cuda-sim", "--json", self.folder / "lab.json", status=1)
        self.assertIn(WHY, done.stderr)

    def test_a_schedule_is_the_same_in_every_mode(self):
        losses = []
        for words in (("--mode", "eager"), ("--mode", "graph"), ("--record", "nodes")):
            record = self.train("cuda-sim", "--schedule", "warmup:2,cosine:4", *words)
            self.assertEqual(record["work"]["rate_schedule"], "warmup:2,cosine:4")
            losses.append(record["epochs"][0]["training_loss"])
        self.assertEqual(losses, [losses[0]] * 3)
        self.assertNotEqual(losses[0], self.train("cuda-sim")["epochs"][0]["training_loss"])

    def test_the_recording_as_a_picture(self):
        explain = ("explain", "--model", "mlp:64-8-4", "--batch", "16", "--backend", "cuda-sim",
                   "--format", "dot-recording")
        captured = run(*explain).stdout
        built = run(*explain, "--record", "nodes").stdout
        self.assertTrue(captured.startswith("digraph"))
        self.assertIn('label="cuda-sim (simulated)"', captured)
        for name in ("Linear", "forward", "update"):
            self.assertIn(name, captured)
            self.assertIn(name, built)
        inside = run(*explain, "--input-copy", "inside").stdout
        self.assertGreater(inside.count("->"), captured.count("->"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
