#!/usr/bin/env python3
"""The four places where a record's fields are written down name the same ones: the structs, the list
that JSON follows, the schema, and the page for people. And what no field may be.

fields_test.py SOURCE_FOLDER
"""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
SCHEMA = json.loads((ROOT / "docs/record-schema.json").read_text())
PAGE = (ROOT / "docs/record.md").read_text()


def structs():
    """name -> members, as the headers declare them."""
    found = {}
    for header in ("record.h", "samples.h"):
        text = re.sub(r"//.*", "", (ROOT / "bench/record" / header).read_text())
        for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.S | re.M):
            found[name] = [member for statement in body.split(";") for member in members(statement)]
    return found


def members(statement):
    statement = " ".join(statement.split())
    if not statement or statement.startswith("friend") or "(" in statement:
        return []
    while "<" in statement:  # the innermost first
        statement = re.sub(r"<[^<>]*>", "", statement)
    return [re.split(r"[={]", each)[0].split()[-1] for each in statement.split(",")]


def listed():
    """name -> {name in JSON: member}, as fields.h lists them."""
    text = (ROOT / "bench/record/fields.h").read_text()
    parts = re.split(r"^template <Is<(\w+)> R, class V>$", text, flags=re.M)[1:]
    return {name: dict(re.findall(r'visit\("(\w+)", record\.(\w+)\)', body))
            for name, body in zip(parts[::2], parts[1::2])}


def definitions():
    """name -> {field: its schema}, the whole record among them."""
    return {"Record": SCHEMA["properties"],
            **{name: each["properties"] for name, each in SCHEMA["definitions"].items()
               if "properties" in each}}


def sections():
    """name of the struct -> fields of its table on the page."""
    parts = re.split(r"^`(\w+)` in bench/record\.$", PAGE, flags=re.M)[1:]
    return {name: re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", body.split("\n## ")[0], re.M)
            for name, body in zip(parts[::2], parts[1::2])}


def all_fields():
    return [(struct, name, each) for struct, fields in definitions().items()
            for name, each in fields.items()]


# Of words: a field made by taking sums of calls from elapsed time (a kernel may run meanwhile).
DIFFERENCE = re.compile(r"(elapsed|wall|total)\w*( time)? *(-|minus|less|without)")
DIFFERENCE_NAME = re.compile(r"minus|_less_|overhead|remainder|non_api|excluding")


def is_difference(name, description):
    return bool(DIFFERENCE_NAME.search(name) or DIFFERENCE.search(description.lower()))


class Fields(unittest.TestCase):
    def test_every_member_is_listed(self):
        inline = {"Fact"}  # written by hand: an object under its name
        for name, expected in structs().items():
            if name not in inline:
                self.assertEqual(expected, list(listed()[name].values()), name)

    def test_the_schema_names_them_all_and_no_other(self):
        known = definitions()
        for name, fields in listed().items():
            if name != "TimedSlot":  # a list of numbers
                self.assertEqual(list(fields), list(known[name]), name)
        self.assertEqual(set(known) - set(listed()), {"Fact"})

    def test_every_object_is_closed_and_whole(self):
        for name, each in [("Record", SCHEMA), *SCHEMA["definitions"].items()]:
            if "properties" in each and name != "Fact":
                self.assertIs(each["additionalProperties"], False, name)
                self.assertEqual(each["required"], list(each["properties"]), name)

    def test_the_page_has_a_line_for_each(self):
        page = sections()
        for name, fields in listed().items():
            if name != "TimedSlot":
                self.assertEqual(list(fields), page.get(name), name)
        for field in listed()["TimedSlot"]:
            self.assertIn(f"`{field}`", PAGE)

    def test_every_field_says_what_it_is(self):
        for struct, name, each in all_fields():
            self.assertTrue(each.get("description"), f"{struct}.{name}")

    def test_times_and_sizes_name_their_unit(self):
        for struct, name, each in all_fields():
            unit = re.search(r"_(ns|us|ms|s)$", name)
            if unit and "type" in each and not name.startswith("in_"):
                self.assertRegex(each["description"], rf"\b{unit.group(1)}\b", f"{struct}.{name}")

    def test_the_page_names_every_fact_of_the_environment(self):
        sources = "".join((ROOT / path).read_text() for path in
                          ("bench/measure/environment.cpp", "bench/measure/nvml.cpp", "bench/cli/delivery.cpp"))
        facts = set(re.findall(r'(?:known|add|LineFact|Fact \w+)[({]"(\w+)"', sources))
        facts |= set(re.findall(r'"(gpu_\w+)"', sources))
        self.assertGreater(len(facts), 40)
        for fact in facts:
            self.assertIn(f"`{fact}`", PAGE)


class Demands(unittest.TestCase):
    def test_R_SYN_9_no_field_is_elapsed_time_minus_calls(self):
        for struct, name, each in all_fields():
            self.assertFalse(is_difference(name, each["description"]), f"{struct}.{name}")
        self.assertTrue(is_difference("gpu_us", "elapsed time minus the sum of API calls"))
        self.assertTrue(is_difference("host_overhead_ns", "ns"))

    def test_R_STA_6_quartiles_and_extremes_beside_the_median(self):
        needed = SCHEMA["definitions"]["TimeSummary"]["required"]
        for field in ("count", "min_ns", "q1_ns", "median_ns", "q3_ns", "max_ns"):
            self.assertIn(field, needed)
        for field in ("q1_ns", "q3_ns"):
            self.assertIn("type 7", SCHEMA["definitions"]["TimeSummary"]["properties"][field]["description"])

    def test_R_STA_7_the_minimum_is_an_extreme_of_a_summary_and_nothing_else(self):
        named = [(struct, name) for struct, name, _ in all_fields()
                 if re.search(r"(^|_)(min|minimum|best|fastest|lowest)(_|$)", name)]
        self.assertEqual(named, [("TimeSummary", "min_ns")])

    def test_R_STA_10_a_mean_stands_only_beside_median_quartiles_and_count(self):
        means = [struct for struct, name, _ in all_fields() if re.search(r"(^|_)(mean|average)(_|$)", name)]
        self.assertEqual(means, ["TimeSummary"])

    def test_R_PHA_4_step_and_pipeline_are_two_scopes(self):
        self.assertEqual(definitions()["ArmRecord"]["scope"]["enum"], ["step-only", "pipeline"])

    def test_R_PHA_5_the_number_of_loader_workers_is_recorded(self):
        self.assertIn("loader_workers", SCHEMA["definitions"]["EpochRecord"]["required"])

    def test_R_PHA_8_host_device_and_elapsed_are_quantities_of_their_own(self):
        arm = definitions()["ArmRecord"]
        self.assertEqual(arm["submission"]["items"], arm["throughput"]["items"])  # measured alike, raw
        self.assertIn("device_busy_us", definitions()["UtilizationRecord"])
        self.assertIn("made from no other", arm["dispatch_empty_kernels"]["description"])

    def test_R_CNT_5_active_sms_come_from_counters(self):
        self.assertIn("counters only", definitions()["UtilizationRecord"]["active_sm_fraction"]["description"])

    def test_R_MEM_1_memory_stands_beside_time(self):
        self.assertIn("memory", SCHEMA["definitions"]["ArmRecord"]["required"])
        for field in ("first", "steady", "owners"):
            self.assertIn(field, SCHEMA["definitions"]["MemoryRecord"]["required"])

    def test_R_UTL_1_kernel_activity_occupancy_and_active_sms_are_three_fields(self):
        fields = definitions()["UtilizationRecord"]
        for field in ("kernel_active_fraction", "occupancy", "active_sm_fraction"):
            self.assertIn(field, fields)
        self.assertFalse([(s, n) for s, n, _ in all_fields() if re.search(r"utili[sz]ation_|gpu_util|_util\b", n)])

    def test_R_UTL_2_the_bound_is_called_a_bound(self):
        for field in ("arith_lower_bound_us", "bandwidth_lower_bound_us"):
            self.assertIn("lower bound", definitions()["UtilizationRecord"][field]["description"].lower())


if __name__ == "__main__":
    unittest.main()
