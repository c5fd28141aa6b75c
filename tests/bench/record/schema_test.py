#!/usr/bin/env python3
"""Records against docs/record-schema.json: those made up with every field filled, and those that the
command writes. The schema must also be able to refuse.

schema_test.py SOURCE_FOLDER SAMPLE_RECORDS STEPSCOPE. Exits with 77, saying why, without jsonschema
(Debian: python3-jsonschema). STEPSCOPE_PEERS_PYTHON may name a Python that has it.
"""
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77

wanted = os.environ.pop("STEPSCOPE_PEERS_PYTHON", "")
if wanted:
    os.execv(wanted, [wanted, *sys.argv])
try:
    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}; it is in Debian's python3-jsonschema")
    sys.exit(SKIPPED)

ROOT, SAMPLE_RECORDS, STEPSCOPE = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
SCHEMA = json.loads((ROOT / "docs/record-schema.json").read_text())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
OPEN = {"environment", "backends", "protocol", "work"}  # objects of any names: facts


def objects(json_value, place=()):
    """(place, object) for each object whose names are fixed."""
    if isinstance(json_value, dict):
        is_facts = place and (place[-1] in OPEN - {"work"} or "backends" in place[:-1]
                              or (place[-1] == "work" and len(place) > 1))
        if not is_facts:
            yield place, json_value
        for name, value in json_value.items():
            yield from objects(value, (*place, name))
    elif isinstance(json_value, list):
        for index, value in enumerate(json_value):
            yield from objects(value, (*place, index))


def numbers(json_value, place=()):
    """(place, number) for each number of it."""
    if isinstance(json_value, dict):
        for name, value in json_value.items():
            yield from numbers(value, (*place, name))
    elif isinstance(json_value, list):
        for index, value in enumerate(json_value):
            yield from numbers(value, (*place, index))
    elif isinstance(json_value, (int, float)) and not isinstance(json_value, bool):
        yield place, json_value


def quantile(values, p):
    """Of type 7, written down once more."""
    values = sorted(values)
    at = (len(values) - 1) * p
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="stepscope-schema-")
        subprocess.run([SAMPLE_RECORDS, cls.folder.name], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def sample(self, name):
        return json.loads((Path(self.folder.name) / name).read_text(), parse_constant=self.fail)

    def assert_valid(self, record):
        wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in VALIDATOR.iter_errors(record)]
        self.assertEqual(wrong, [])

    def written_by(self, *words):
        path = Path(self.folder.name) / "command.json"
        done = subprocess.run([STEPSCOPE, *words, "--quiet", "--json", path], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(path.read_text(), parse_constant=self.fail)
        self.assert_valid(record)
        return record


class Samples(Records):
    def test_the_schema_itself_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_made_up_records_are_valid(self):
        for name in ("filled.json", "empty.json", "not_run.json", "not_numbers.json"):
            with self.subTest(name):
                self.assert_valid(self.sample(name))

    def test_no_number_is_not_a_number(self):
        record = self.sample("not_numbers.json")
        self.assertIsNone(record["arms"][0]["flops_per_step"])
        self.assertEqual(record["pairs"][0]["ratios"][0]["per_process"], [None])
        self.assertIn("arms/0/flops_per_step: null, since it was not a number", record["notes"])
        self.assertIn("pairs/0/ratios/0/per_process/0: null, since it was infinite", record["notes"])

    def test_unknown_and_missing_fields_are_refused(self):
        whole = self.sample("filled.json")
        places = [place for place, _ in objects(whole)]
        self.assertGreater(len(places), 100)
        seen = set()
        for place in places:
            kind = tuple(part for part in place if isinstance(part, str))
            if kind in seen:
                continue
            seen.add(kind)
            record = copy.deepcopy(whole)
            at = record
            for part in place:
                at = at[part]
            at["surprise"] = 1
            self.assertFalse(VALIDATOR.is_valid(record), f"unknown field at {place}")
            del at["surprise"]
            name = next(iter(at))
            del at[name]
            self.assertFalse(VALIDATOR.is_valid(record), f"{place} without {name}")
        self.assertGreater(len(seen), 30)

    def refused(self, change):
        record = self.sample("filled.json")
        change(record)
        return not VALIDATOR.is_valid(record)

    def test_R_CLK_5_a_negative_sample_is_refused(self):
        def change(record):
            record["arms"][0]["latency"][0]["elapsed_ns"][0] = -1
        self.assertTrue(self.refused(change))

        def slot(record):
            record["pairs"][0]["processes"][0]["blocks"][0]["slots"][3][1] = -1
        self.assertTrue(self.refused(slot))

    def test_R_MEM_1_an_arm_without_memory_is_refused(self):
        self.assertTrue(self.refused(lambda record: record["arms"][0].pop("memory")))

    def test_R_STA_6_a_summary_without_quartiles_is_refused(self):
        for field in ("q1_ns", "q3_ns", "min_ns", "max_ns"):
            self.assertTrue(self.refused(lambda r, f=field: r["arms"][0]["latency_summary"].pop(f)), field)

    def test_words_outside_their_list_are_refused(self):
        for place, word in (("status", "fine"), ("schema", "stepscope-record 3")):
            self.assertTrue(self.refused(lambda r, p=place, w=word: r.__setitem__(p, w)), place)
        self.assertTrue(self.refused(lambda r: r["arms"][0].__setitem__("scope", "epoch")))
        self.assertTrue(self.refused(lambda r: r["summary"].extend("abcd")))

    def test_a_fact_has_a_value_or_a_reason(self):
        for fact in ({}, {"value": None}, {"value": "x", "reason": "y"}, {"value": None, "reason": ""}):
            self.assertTrue(self.refused(lambda r, f=fact: r["environment"].__setitem__("new", f)), fact)

    def test_R_ENV_4_a_run_that_was_none_holds_no_number_of_one(self):
        record = self.sample("not_run.json")
        self.assertEqual(record["status"], "not-run")
        self.assertTrue(record["status_reason"])
        asked = {"rate", "seed", "batch", "threads"}  # what was asked for
        account = {"reserved_bytes", "model_bytes", "flops_per_step", "library_flops_per_step",
                   "fewest_bytes_per_step", "count"}  # of a program that was not made: 0
        for place, value in numbers(record):
            self.assertTrue(place[-1] in asked or (place[-1] in account and value == 0), place)
        for field in ("counts_per_step", "latency_summary", "throughput_summary"):
            self.assertIsNone(record["arms"][0][field])


class Commands(Records):
    def test_compare(self):
        record = self.written_by("compare", "--model", "mlp:16-8-4", "--data", "generated", "--batch", "4",
                                 "--backend", "reference", "--quick", "--budget", "1s")
        self.assertTrue(record["arms"])
        for arm in record["arms"]:
            for name in ("latency", "throughput"):
                self.check_summary(arm, name)

    def check_summary(self, arm, name):
        """R-STA-5, R-STA-8: recomputed from the raw lists, by other code."""
        steps = [ns / samples["steps_per_sample"] for samples in arm[name] for ns in samples["elapsed_ns"]]
        summary = arm[f"{name}_summary"]
        self.assertTrue(steps, arm["name"])
        self.assertEqual(summary["count"], len(steps))
        for field, p in (("min_ns", 0), ("q1_ns", 0.25), ("median_ns", 0.5), ("q3_ns", 0.75), ("max_ns", 1)):
            self.assertAlmostEqual(summary[field], quantile(steps, p), places=4, msg=f"{arm['name']} {field}")

    def test_train(self):
        record = self.written_by("train", "--model", "mlp:16-8-4", "--data", "generated", "--steps", "20",
                                 "--backend", "reference")
        self.assertTrue(record["epochs"])

    def test_a_training_that_diverged(self):
        record = self.written_by("train", "--model", "mlp:16-8-4", "--data", "generated", "--steps", "5",
                                 "--epochs", "1", "--backend", "reference", "--lr", "1e30")
        self.assertIsNone(record["epochs"][0]["training_loss"])
        self.assertIn("epochs/0/training_loss: null, since it was not a number", record["notes"])
        self.assertIn("the loss is not finite from epoch 1 on", record["notes"])

    def test_the_lab(self):
        record = self.written_by("lab", "--backend", "reference", "--batch", "4")
        self.assertEqual(record["status"], "exploratory")
        arm = record["arms"][0]
        self.assertEqual((arm["scope"], arm["mode_executed"]), ("pipeline", "eager"))
        self.check_summary(arm, "latency")
        self.assertEqual(len(arm["latency"][0]["elapsed_ns"]), 10)
        self.assertEqual(len(arm["warmup"][0]["elapsed_ns"]), 3)

    def test_a_lab_without_its_device(self):
        if "cuda       available" in subprocess.run([STEPSCOPE, "devices"], capture_output=True, text=True,
                                                    check=True).stdout:
            self.skipTest("there is a device")
        record = self.written_by("lab", "--preset", "gpu-plan")
        self.assertEqual(record["status"], "not-run")
        self.assertTrue(record["status_reason"])
        self.assertEqual(record["arms"][0]["latency"], [])

    def test_a_record_that_was_compared(self):
        words = ("compare", "--model", "chain:3", "--backend", "null", "--batch", "1", "--quick",
                 "--budget", "1ms")
        then = Path(self.folder.name) / "then.json"
        then.write_text(json.dumps(self.written_by(*words)))
        now = Path(self.folder.name) / "now.json"
        now.write_text(json.dumps(self.written_by(*words)))
        record = self.written_by("report", now, "--baseline", then)
        self.assertTrue(record["baseline"])


if __name__ == "__main__":
    unittest.main()
