#!/usr/bin/env python3
"""The bench_* programs: names, flags, counters, and the record that --raw writes.

suites_test.py SOURCE_FOLDER BIN_FOLDER [NAME_OF_TEST]. Nothing is said of any time but that it is
one. The part that needs jsonschema (Debian: python3-jsonschema) says so where it is skipped.
"""
# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json
import subprocess
import unittest
from statistics import median

import programs
from programs import MODEL, QUICK, SMALL, Programs

COPIES = (4096, 65536, 1048576, 16777216)  # bytes
MODES = ("eager", "planned", "graph")
FAILS = "mlp:9-8-4"  # on data of 16 pixels


class Names(Programs):
    def test_a_step_is_named_by_all_that_decides_it(self):
        wanted = [f"step/{MODEL}/reference/{mode}/{fusion}/batch:4/manual_time"
                  for fusion in ("unfused", "fused") for mode in MODES]
        self.assertEqual(self.names("bench_step", *SMALL), wanted)

    def test_the_other_programs(self):
        wanted = [f"epoch/{MODEL}/reference/{mode}/{fusion}/batch:4/manual_time"
                  for fusion in ("unfused", "fused") for mode in MODES]
        self.assertEqual(self.names("bench_epoch", *SMALL), wanted)
        wanted = [f"plan/{MODEL}/reference/{part}/{fusion}/batch:4/iterations:30/manual_time"
                  for fusion in ("unfused", "fused") for part in ("compile", "record", "first_replay")]
        self.assertEqual(self.names("bench_plan", *SMALL), wanted)
        wanted = [f"transfer/reference/{part}/batch:4/manual_time"
                  for part in ("input_copy", "snapshot", "restore", "read_loss")]
        # A processor has one memory, whichever way its bytes go.
        wanted += [f"transfer/reference/{way}/one_memory/bytes:{size}/manual_time"
                   for size in COPIES for way in ("to_device", "to_host")]
        self.assertEqual(self.names("bench_transfer", *SMALL), wanted)
        wanted = [f"dispatch/{MODEL}/null/{mode}/log:{log}/manual_time"
                  for log in ("on", "off") for mode in MODES]
        wanted.append(f"dispatch/{MODEL}/null/eager-uncached/log:on/manual_time")
        self.assertEqual(self.names("bench_dispatch", "--model", MODEL), wanted)

    def test_lists_of_models_and_batches_multiply(self):
        names = self.names("bench_step", "--model=mlp:16-8-4,mlp:16-4", "--backend=reference",
                           "--batch=1,2,2")
        self.assertEqual(len(names), 2 * 2 * 6)
        self.assertEqual(len(set(names)), len(names))

    def test_a_filter_chooses(self):
        results = self.results("bench_step", *SMALL, "--benchmark_filter=graph/fused")
        self.assertEqual([row["name"] for row in results["benchmarks"]],
                         [f"step/{MODEL}/reference/graph/fused/batch:4/manual_time"])

    def test_usual_runs_name_usual_things(self):
        names = self.names("bench_step")
        self.assertTrue(any("/mlp/" in name for name in names))
        self.assertFalse(any("/reference/" in name or "/null/" in name for name in names))


class Flags(Programs):
    def test_help_names_own_flags_and_those_of_the_library(self):
        text = self.run_program("bench_step", "--help").stdout
        for word in ("--raw", "--threads", "--model", "step/MODEL/", "--benchmark_filter"):
            self.assertIn(word, text)

    def test_mistakes_get_one_line_and_status_2(self):
        self.assertIn("did you mean 'mlp'", self.wrong("bench_step", "--model", "mlq"))
        self.assertIn("did you mean 'reference'", self.wrong("bench_step", "--backend", "referense"))
        for batch in ("0", "1048577", "1000000000000"):
            self.assertIn("between 1 and 1048576", self.wrong("bench_step", "--batch", batch))
        self.assertIn("xml", self.wrong("bench_step", "--benchmark_format=xml"))
        self.assertIn("xml", self.wrong("bench_step", "--benchmark_out_format=xml"))
        self.assertIn("--data", self.wrong("bench_op", "--data=generated"))
        self.assertIn("--threads", self.wrong("bench_step", "--threads", "0"))
        self.assertIn("--seed", self.wrong("bench_step", "--seed", "x"))
        self.assertIn("generatd", self.wrong("bench_step", "--data", "generatd"))
        self.assertIn("2 of them", self.wrong("bench_transfer", "--model", "mlp,mlp:16-4"))
        self.assertIn("--benchmrk_filter", self.wrong("bench_step", "--benchmrk_filter=x"))
        (self.folder / "file").touch()
        inside_a_file = self.folder / "file" / "raw.json"
        self.assertIn(str(inside_a_file), self.wrong("bench_step", *SMALL, "--raw", inside_a_file))

    def test_files_that_cannot_be_what_they_are_named_for(self):
        self.assertIn("--raw", self.wrong("bench_step", "--raw", ""))
        out = self.folder / "out.json"
        again = self.folder / "." / "none" / ".." / "out.json"
        words = (*SMALL, f"--benchmark_out={out}", "--raw", again)
        self.assertIn("--benchmark_out", self.wrong("bench_step", *words))
        self.assertFalse(out.exists())
        (self.folder / "raw-mlp-16-4.json").mkdir()  # where the second model's record would go
        self.assertIn("raw-mlp-16-4.json", self.wrong("bench_step", "--model", "mlp:16-8-4,mlp:16-4",
                                                      "--raw", self.folder / "raw.json"))

    def test_a_full_disk_is_a_failure(self):
        words = (*SMALL, QUICK, "--benchmark_filter=restore")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([programs.BIN / "bench_transfer", *words], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("standard output"), 1, done.stderr)
        for form in ("json", "csv", "console"):
            done = self.run_program("bench_transfer", *words, "--benchmark_out=/dev/full",
                                    f"--benchmark_out_format={form}", status=1)
            self.assertEqual(done.stderr.count("/dev/full"), 1, done.stderr)

    def test_a_filter_that_matches_nothing_is_a_mistake(self):
        done = self.run_program("bench_step", *SMALL, "--benchmark_filter=nothing", status=2)
        self.assertIn("nothing", done.stderr)

    def test_tables_of_programs_whose_counters_differ(self):
        def table(program, *words):
            done = self.run_program(program, *words, QUICK, "--benchmark_format=csv")
            return list(csv.DictReader(io.StringIO(done.stdout[done.stdout.index("name,"):])))
        self.assertTrue(all(row["calls"] and row["arithmetic_share"] for row in table("bench_op", *SMALL)))
        self.assertEqual({row["flops"] == "nan" for row in table("bench_roofline")}, {True, False})

    def test_a_step_that_fails_ends_alone_and_the_status_tells(self):
        words = ("--model", f"{MODEL},{FAILS}", "--data", self.data_of_16_pixels(), "--batch", "4",
                 "--backend", "reference", "--benchmark_filter=graph/fused", QUICK)
        done = self.run_program("bench_step", *words, "--benchmark_format=json", status=1)
        good, bad = json.loads(done.stdout)["benchmarks"]
        self.assertNotIn("error_message", good)
        self.assertTrue(bad["error_message"])

    def test_a_table_may_begin_with_what_failed(self):
        out = self.folder / "out.csv"
        words = ("--data", self.data_of_16_pixels(), "--batch", "4", "--backend", "reference", QUICK,
                 "--benchmark_filter=graph/fused", "--benchmark_format=csv",
                 f"--benchmark_out={out}", "--benchmark_out_format=csv")

        def table(text):
            return list(csv.DictReader(io.StringIO(text[text.index("name,"):])))
        done = self.run_program("bench_step", "--model", f"{FAILS},{MODEL}", *words, status=1)
        for text in (done.stdout, out.read_text()):
            bad, good = table(text)
            self.assertEqual((bad["error_occurred"], good["error_occurred"]), ("true", ""))
            self.assertEqual(good["launches"], "1")
        done = self.run_program("bench_step", "--model", FAILS, *words, status=1)
        bad, = table(done.stdout)
        self.assertEqual(bad["error_occurred"], "true")

    def test_seconds_with_and_without_their_unit(self):
        for seconds in ("0.001", "0.001s"):
            self.run_program("bench_step", *SMALL, f"--benchmark_min_time={seconds}",
                             "--benchmark_filter=graph/fused")

    def test_formats_repetitions_and_files_of_the_library(self):
        out = self.folder / "out.json"
        done = self.run_program("bench_step", *SMALL, QUICK, "--benchmark_filter=graph",
                                "--benchmark_format=csv", "--benchmark_repetitions=3",
                                "--benchmark_enable_random_interleaving=true",
                                f"--benchmark_out={out}", "--benchmark_context=who=me")
        rows = list(csv.DictReader(io.StringIO(done.stdout[done.stdout.index("name,"):])))
        self.assertEqual(len(rows), 2 * (3 + 4))  # runs, and mean, median, stddev, cv
        self.assertTrue(all(row["launches"] for row in rows))
        results = json.loads(out.read_text())
        self.assertEqual(results["context"]["who"], "me")
        self.assertEqual(sum(row["run_type"] == "iteration" for row in results["benchmarks"]), 6)
        done = self.run_program("bench_transfer", *SMALL, QUICK, "--benchmark_repetitions=3",
                                "--benchmark_report_aggregates_only=true")
        self.assertIn("_median", done.stdout)


class Counters(Programs):
    def allocations(self, count):
        """What counts them gives way to a sanitizer's own functions."""
        context = self.results("bench_roofline", "--benchmark_filter=fma")["context"]
        return None if "-fsanitize" in context["compiler_flags"] else count

    def test_of_a_step(self):
        results = self.results("bench_step", *SMALL)
        rows = {tuple(row["name"].split("/")[3:5]): row for row in results["benchmarks"]}
        self.assertEqual(len({row["label"] for row in rows.values()}), 1)  # equal work
        for (mode, fusion), row in rows.items():
            with self.subTest(row["name"]):
                self.assertEqual(row["launches"], 1 if mode == "graph" else row["ops"])
                self.assertEqual(row["calls"], row["ops"])
                for counter in ("dispatch_ns", "flops", "bytes", "real_time"):
                    self.assertGreater(row[counter], 0)
                self.assertEqual(row.get("allocations"), self.allocations(0))
                for share in ("arithmetic_share", "bandwidth_share"):
                    if share in row:  # where the bound is one
                        self.assertGreater(row[share], 0)
                        self.assertLess(row[share], 1)
        for share in ("arithmetic_share", "bandwidth_share"):
            self.assertTrue(any(share in row for row in rows.values()), share)
        self.assertLess(rows["graph", "fused"]["ops"], rows["graph", "unfused"]["ops"])

    def test_of_dispatch(self):
        rows = self.results("bench_dispatch", "--model", "chain:5")["benchmarks"]
        for row in rows:
            _, _, _, mode, log, _ = row["name"].split("/")
            ops, launches, lookups = {"eager": (5, 5, 5), "eager-uncached": (5, 5, 5),
                                      "planned": (5, 5, 0), "graph": (5, 1, 0)}[mode]
            self.assertEqual((row["ops"], row["launches"], row["lookups"]), (ops, launches, lookups))
            self.assertEqual("allocations" in row, self.allocations(0) is not None)
            if "allocations" in row:
                (self.assertGreater if mode == "eager-uncached" else self.assertEqual)(
                    row["allocations"], 0)
            self.assertAlmostEqual(row["per_op"] * ops * 1e9, row["real_time"], delta=row["real_time"] * 1e-3)

    def test_of_an_epoch(self):
        row, = self.results("bench_epoch", *SMALL, "--benchmark_filter=graph/fused")["benchmarks"]
        self.assertEqual(row["steps"], 4800 / 4)
        parts = ("data_ms", "transfer_ms", "step_ms", "readback_ms", "validation_ms")
        self.assertTrue(all(row[part] > 0 for part in parts))
        self.assertLess(sum(row[part] for part in parts), row["real_time"])
        self.assertAlmostEqual(row["items_per_second"], 4800 / row["real_time"] * 1e3,
                               delta=row["items_per_second"] * 1e-3)

    def test_of_a_plan_and_of_transfers(self):
        rows = self.results("bench_plan", *SMALL)["benchmarks"]
        self.assertTrue(all(row["iterations"] == 30 and row["real_time"] > 0 for row in rows))
        self.assertTrue(all(row["nodes"] == row["ops"] for row in rows))
        rows = self.results("bench_transfer", *SMALL)["benchmarks"]
        bytes_of = {row["name"].split("/")[2]: row["bytes"] for row in rows}
        self.assertEqual(bytes_of["input_copy"], 4 * (16 * 4 + 4))
        self.assertEqual(bytes_of["read_loss"], 4)
        self.assertEqual(bytes_of["snapshot"], bytes_of["restore"])
        copies = [row for row in rows if "/one_memory/" in row["name"]]
        self.assertEqual([row["bytes"] for row in copies],
                         [size for size in COPIES for _ in range(2)])

    def test_the_context_says_on_what_it_ran(self):
        context = self.results("bench_step", *SMALL, "--seed", "7",
                               "--benchmark_filter=graph/fused")["context"]
        for name in ("stepscope", "schema", "protocol_hash", "git_state", "processor", "pinned",
                     "compiler_flags"):
            self.assertTrue(context[name], name)
        self.assertEqual((context["seed"], context["threads"]), ("7", "1"))


class Sidecars(Programs):
    def assert_valid(self, record):
        self.assertEqual(record["status"], "exploratory")
        self.assertEqual([note for note in record["notes"] if "contradicts" in note], [])
        try:
            import jsonschema
        except ImportError as missing:
            self.skipTest(f"{missing}; it is in Debian's python3-jsonschema")
        schema = json.loads((programs.ROOT / "docs/record-schema.json").read_text())
        wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}"
                 for e in jsonschema.Draft7Validator(schema).iter_errors(record)]
        self.assertEqual(wrong, [])

    def test_a_step_leaves_every_block_of_every_repetition(self):
        record, results = self.record("bench_step", *SMALL, "--benchmark_repetitions=2")
        self.assertEqual([arm["name"] for arm in record["arms"]],
                         [f"reference/{mode}/{fusion}/4" for fusion in ("off", "on") for mode in MODES])
        for arm in record["arms"]:
            blocks, = arm["throughput"]
            self.assertEqual(len(blocks["start_ns"]), len(blocks["elapsed_ns"]))
            fusion = "unfused" if arm["fusion"] == "off" else "fused"
            name = f"step/{MODEL}/reference/{arm['mode_requested']}/{fusion}/batch:4"
            runs = [row for row in results["benchmarks"]
                    if row["run_name"].startswith(name) and row["run_type"] == "iteration"]
            self.assertEqual(len(runs), 2)
            # The library's last calls are the repetitions that it reports.
            steps = blocks["steps_per_sample"]
            end = len(blocks["elapsed_ns"])
            for run in reversed(runs):
                count, rest = divmod(run["iterations"], steps)
                self.assertEqual(rest, 0)
                reported = blocks["elapsed_ns"][end - count:end]
                end -= count
                self.assertAlmostEqual(sum(reported) / run["iterations"], run["real_time"] * 1e3,
                                       delta=run["real_time"])
            per_step = [ns / steps for ns in blocks["elapsed_ns"]]
            self.assertAlmostEqual(arm["throughput_summary"]["median_ns"], median(per_step), places=3)
            self.assertEqual(len(arm["latency"][0]["elapsed_ns"]), 30)
            self.assertEqual(arm["mode_executed"], arm["mode_requested"])
        self.assert_valid(record)

    def test_an_epoch_is_an_arm_with_the_whole_pipeline(self):
        record, results = self.record("bench_epoch", *SMALL, "--benchmark_filter=graph/fused")
        arm, = record["arms"]
        self.assertEqual((arm["scope"], arm["steps"], arm["samples_seen"]), ("pipeline", 1200, 4800))
        self.assertEqual(arm["throughput"][0]["steps_per_sample"], 1200)
        self.assert_valid(record)

    def test_a_plan_is_an_arm_with_the_costs_of_every_making(self):
        record, _ = self.record("bench_plan", *SMALL, "--benchmark_filter=/fused/")
        arm, = record["arms"]
        self.assertEqual(len(arm["one_off"]), 1 + 3 * 30)  # one to warm up, then 30 for each part
        self.assertTrue(all(cost["capture_ns"] > 0 for cost in arm["one_off"]))
        self.assertIsNone(arm["throughput_summary"])
        self.assert_valid(record)

    def test_dispatch_has_arms_for_what_compare_runs_and_rows_for_the_rest(self):
        record, _ = self.record("bench_dispatch", "--model", "chain:5")
        self.assertEqual([arm["name"] for arm in record["arms"]],
                         [f"null/{mode}/off/32" for mode in MODES])
        self.assertEqual([row["name"] for row in record["calibration"]],
                         [f"dispatch/chain:5/null/{what}" for what in
                          ("eager/log:off", "planned/log:off", "graph/log:off", "eager-uncached/log:on")])
        self.assert_valid(record)

    def test_transfers_are_rows_with_quartiles(self):
        record, _ = self.record("bench_transfer", *SMALL)
        self.assertEqual(record["arms"], [])
        for row in record["calibration"]:
            self.assertEqual(row["unit"], "ns")
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["value"], row["high"])
        self.assert_valid(record)

    def test_several_models_have_a_record_each(self):
        raw = self.folder / "raw.json"
        self.run_program("bench_step", "--model", "mlp:16-8-4,mlp:16-4", "--backend", "reference",
                         "--batch", "1", QUICK, "--benchmark_filter=graph/fused", "--raw", raw)
        self.assertFalse(raw.exists())
        files = [self.folder / f"raw-{model}.json" for model in ("mlp-16-8-4", "mlp-16-4")]
        records = [json.loads(file.read_text()) for file in files]
        for model, record in zip(("mlp:16-8-4", "mlp:16-4"), records):
            self.assertEqual(record["work"]["model"], model)
            self.assertEqual(len(record["arms"]), 1)
        self.assertNotEqual(*(record["experiment_id"] for record in records))
        if (programs.BIN / "stepscope").exists():
            self.assertIn("mlp:16-4", self.run_program("stepscope", "report", *files).stdout)

    def test_a_run_with_an_error_keeps_what_was_measured(self):
        data = self.data_of_16_pixels()
        words = ("--data", data, "--backend", "reference", "--batch", "4", QUICK,
                 "--benchmark_filter=graph/fused", "--raw", self.folder / "raw.json")
        self.run_program("bench_step", "--model", f"{MODEL},{FAILS}", *words, status=1)
        record = json.loads((self.folder / "raw-mlp-16-8-4.json").read_text())
        self.assertEqual(len(record["arms"]), 1)
        self.assertEqual(record["work"]["data"], str(data))
        note, = [note for note in record["notes"] if FAILS in note]
        self.assertTrue(note.startswith(f"step/{FAILS}/reference/graph/fused/batch:4: "), note)
        self.assert_valid(record)

    def test_a_run_that_measured_nothing_says_so(self):
        raw = self.folder / "raw.json"
        done = self.run_program("bench_step", "--model", FAILS, "--data", self.data_of_16_pixels(),
                                "--backend", "reference", "--batch", "4", QUICK,
                                "--benchmark_filter=graph/fused", "--raw", raw, status=1)
        self.assertEqual(done.stderr.count(str(raw)), 1, done.stderr)
        self.assertFalse(raw.exists())

    def test_ops_are_rows_and_run_on_noise(self):
        record, results = self.record("bench_op", *SMALL, "--benchmark_filter=MatMul/")
        self.assertEqual(record["work"]["data"], "noise")
        self.assertEqual(results["context"]["data"], "noise")
        rows = [row["name"] for row in record["calibration"] if row["name"].startswith("op/MatMul/")]
        self.assertEqual(len(rows), len(results["benchmarks"]))
        self.assert_valid(record)

    def test_a_roofline_is_rows_of_no_model(self):
        record, results = self.record("bench_roofline", "--benchmark_filter=fma|l1")
        self.assertEqual(record["arms"], [])
        self.assertEqual([f"{row['name']}/manual_time" for row in record["calibration"]],
                         [row["name"] for row in results["benchmarks"]])
        self.assert_valid(record)

    def test_every_backend_has_a_row_of_the_process(self):
        record, _ = self.record("bench_step", "--model", MODEL, "--backend", "reference,null",
                                "--batch", "4", "--benchmark_filter=graph/fused")
        self.assertEqual([row["backend"] for row in record["processes"]], ["reference", "null"])
        distance = record["environment"]["core_distance"]
        for row in record["processes"]:
            self.assertEqual(row["core_distance"], distance.get("value", "not measured").split(",")[0])
        self.assert_valid(record)


if __name__ == "__main__":
    programs.take_arguments()
    unittest.main()
