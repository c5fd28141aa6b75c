"""Reports among other processes: standard input, terminals and what is shown on them, signals, a full
disk, a gnuplot that is not there.

Usage: report_process_test.py STEPSCOPE [NAME_OF_TEST]. No clock decides anything.
"""
# SPDX-License-Identifier: Apache-2.0
import fcntl
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

from kept_records import keep

PROGRAM = ""
COMPARE = ("compare", "--model", "chain:5", "--backend", "null", "--mode", "eager,graph", "--fusion",
           "off", "--batch", "1")
QUICK = (*COMPARE, "--quick", "--budget", "1ms")
ESCAPE = "\x1b"


def run(*words, **settings):
    return subprocess.run([PROGRAM, *map(str, words)], check=False,
                          **({"capture_output": True, "text": True} | settings))


def on_terminal(*words, stream="stdout", columns=0, **variables):
    """Status, and what a terminal gets that is the standard output, or error, of the command."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    other = "stderr" if stream == "stdout" else "stdout"
    with subprocess.Popen([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL,
                          env=environment | {"TERM": "xterm"} | variables,
                          **{stream: theirs, other: subprocess.DEVNULL}) as process:
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 1 << 16):
                shown += block
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        return process.wait(), shown.decode()


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="stepscope-")
        cls.addClassCleanup(scratch.cleanup)
        cls.root = Path(scratch.name)
        cls.record = cls.root / "record.json"
        done = run(*QUICK, "--json", cls.record)
        assert done.returncode == 0, done.stderr
        keep(cls.record.read_text())

    def fresh(self):
        made = tempfile.TemporaryDirectory(prefix="stepscope-")
        self.addCleanup(made.cleanup)
        return Path(made.name)

    def files_in(self, folder):
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

    def test_standard_input_is_a_record(self):
        with open(self.record, encoding="utf-8") as file:
            done = run("report", "-", stdin=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, run("report", self.record).stdout)
        piped = run("report", "-", input=self.record.read_text())
        self.assertEqual(piped.stdout, done.stdout)
        nothing = run("report", "-", input="")
        self.assertEqual(nothing.returncode, 1)
        self.assertTrue(nothing.stderr.startswith("stepscope: standard input: is no stepscope-record"),
                        nothing.stderr)

    def test_a_record_comes_out_as_it_went_in(self):
        done = run("report", self.record, "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(keep(done.stdout), self.record.read_text())

    def decided(self):
        """Two records of one work, so that there is a verdict to be shown."""
        record = json.loads(self.record.read_text())
        record |= {"status": "complete", "status_reason": ""}
        record["environment"]["processor"] = {"value": "test"}
        folder = self.fresh()
        now, then = folder / "now.json", folder / "then.json"
        now.write_text(json.dumps(record))
        record |= {"created": "2020-01-02T03:04:05Z", "experiment_id": "0" * 32}
        then.write_text(json.dumps(record))
        return now, then

    def test_verdicts_have_colour_on_a_terminal_alone(self):
        records = self.decided()
        plain = run("report", *records).stdout
        self.assertIn("UNDECIDED", plain)
        self.assertNotIn(ESCAPE, plain)
        status, shown = on_terminal("report", *records)
        self.assertEqual(status, 0)
        self.assertIn(f"{ESCAPE}[33mUNDECIDED{ESCAPE}[0m", shown)
        for variables in ({"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}):
            status, shown = on_terminal("report", *records, **variables)
            self.assertEqual(status, 0)
            self.assertNotIn(ESCAPE, shown, variables)
            self.assertEqual(shown.replace("\r\n", "\n"), plain)
        self.assertIn(ESCAPE, on_terminal("report", *records, NO_COLOR="")[1])
        self.assertIn(ESCAPE, on_terminal("report", *records, "--color", "always", NO_COLOR="1")[1])
        self.assertNotIn(ESCAPE, on_terminal("report", *records, "--color", "never")[1])
        self.assertIn(ESCAPE, run("report", *records, "--color", "always").stdout)

    def test_a_record_and_a_form_have_no_colour(self):
        now, then = self.decided()
        for words in (("--json", "-"), ("--format", "md")):
            status, shown = on_terminal("report", now, "--baseline", then, "--color", "always", *words)
            self.assertEqual(status, 0)
            self.assertNotIn(ESCAPE, shown)

    def test_progress_says_how_long_it_takes(self):
        status, shown = on_terminal(*COMPARE, "--dry-run", "--budget", "40s", stream="stderr")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"\[\.{24}\]   0 %  pilot, null batch 1")
        self.assertNotIn(" left", shown)  # of the 40 s nothing follows the pilot
        status, shown = on_terminal(*COMPARE, "--budget", "2s", "--quick", stream="stderr")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"   0 %  null batch 1, about [0-9]+ s left")
        self.assertEqual(on_terminal(*COMPARE, "--dry-run", "--budget", "40s", "--quiet",
                                     stream="stderr"), (0, ""))

    def test_progress_of_a_training_is_that_of_all_its_epochs(self):
        words = ("train", "--model", "mlp:64-8-4", "--data", "generated", "--backend", "reference",
                 "--epochs", 4, "--steps", 12, "--batch", 64)
        status, shown = on_terminal(*words, stream="stderr")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"\[\.{24}\]   0 %  epoch 1 of 4[ \r]")
        self.assertNotIn("loss 0.0000", shown)  # before one was read there is none
        self.assertRegex(shown, r" \d+ %  epoch 4 of 4, loss ")
        shares = [int(part.split()[-1]) for part in shown.split(" %")[:-1]]
        self.assertEqual(shares, sorted(shares))  # it does not begin anew with each epoch
        self.assertGreaterEqual(max(shares), 75)

    def test_no_progress_where_nobody_sees_it(self):
        done = run(*QUICK)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_pages_without_gnuplot_keep_their_tables(self):
        folder = self.fresh()
        done = run("report", self.record, "--out", folder / "out", env=os.environ | {"PATH": str(folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^report: .*/report\.html, .*; no pictures: .*gnuplot.*\n$")
        page = (folder / "out/report.html").read_text()
        self.assertIn("<table", page)
        self.assertNotIn("<img", page)

    def test_progress_fits_the_terminal(self):
        words = (*COMPARE, "--budget", "1ms")
        status, shown = on_terminal(*words, stream="stderr", columns=48)
        self.assertEqual(status, 0)
        lines = shown.split("\r")
        self.assertIn("[........................]   0 %  pilot, null b", lines)
        self.assertLessEqual(max(map(len, lines)), 47)

    def stopped(self, folder, *words):
        """The command, stopped by Ctrl-C while its first picture is drawn: by a gnuplot that says when,
        and draws all others at once."""
        tools = folder / "tools"
        tools.mkdir()
        begun = tools / "begun"
        script = tools / "gnuplot"
        script.write_text("#!/bin/sh\n"
                          "if grep -q GPVAL_VERSION; then echo '5.4 1'; exit 0; fi\n"  # asked what it is
                          f"[ ! -e '{begun}' ] || exit 1\n"
                          f": > '{begun}'\nexec sleep 600\n")
        script.chmod(0o755)
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True,
                                   env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"})
        for stream in (process.stdout, process.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while not begun.exists():
            self.assertIsNone(process.poll(), "it ended too early")
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        printed, said = process.communicate()
        return process.returncode, said, printed

    def test_a_report_that_is_stopped_writes_nothing(self):
        folder = self.fresh()
        out = folder / "out"
        self.assertEqual(self.stopped(folder, "report", self.record, "--out", out)[:2],
                         (1, "stepscope: interrupted; nothing was written\n"))
        self.assertFalse(out.exists())

    def test_a_page_that_is_stopped_is_not_printed(self):
        self.assertEqual(self.stopped(self.fresh(), "report", self.record, "--format", "html"),
                         (1, "stepscope: interrupted; nothing was written\n", ""))

    def test_what_was_measured_stays_when_its_report_is_stopped(self):
        folder = self.fresh()
        out = folder / "out"
        status, said, _ = self.stopped(folder, *QUICK, "--out", out)
        self.assertEqual(status, 1)
        self.assertEqual(said, f"record: {out}/record.json\nstepscope: {out}: the record is written, and "
                               "no report of it: interrupted\n")
        self.assertEqual(self.files_in(out), ["record.json"])
        keep((out / "record.json").read_text())

    def test_no_report_of_another_run_stays_beside_a_record(self):
        folder = self.fresh()
        out = folder / "out"
        self.assertEqual(run(*QUICK, "--out", out).returncode, 0)
        before = (out / "record.json").read_text()
        (out / "tables/mine.csv").write_text("a\n1\n")
        status, said, _ = self.stopped(folder, *QUICK, "--out", out)
        self.assertEqual(status, 1)
        self.assertTrue(said.endswith(f"{out}: the record is written, and no report of it: interrupted; the "
                                      "report of another run there was removed\n"), said)
        self.assertEqual(self.files_in(out), ["record.json", "tables", "tables/mine.csv"])
        self.assertNotEqual((out / "record.json").read_text(), before)

    def test_a_full_disk_leaves_no_part_of_a_report(self):
        folder = self.fresh()
        out = folder / "out"
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                          (2000, resource.RLIM_INFINITY))}
        done = run("report", self.record, "--out", out, **limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^stepscope: .*/out/.*: cannot be written: File too large\n$")
        self.assertFalse(out.exists())

    def test_a_full_standard_output(self):
        for words in ((), ("--json", "-"), ("--format", "md")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = run("report", self.record, *words, stdout=full, stderr=subprocess.PIPE,
                           capture_output=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertTrue(done.stderr.startswith("stepscope: standard output: "), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_outputs_of_each_command(self):
        lab = ("lab", "--backend", "reference", "--batch", 4)
        train = ("train", "--model", "mlp:784-4-10", "--data", "generated", "--backend", "reference",
                 "--epochs", 1, "--steps", 2)
        for words in (QUICK, train, lab):
            out = self.fresh() / "out"
            done = run(*words, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            keep((out / "record.json").read_text())
            names = set(self.files_in(out))
            self.assertLessEqual({"record.json", "report.html", "report.md", "tables/columns.csv"}, names)
            self.assertEqual("measure_report.json" in names, words[0] == "lab")
            self.assertEqual([name for name in names if name.endswith(".tmp")], [])
            self.assertIn("<html", (out / "report.html").read_text())
            again = run("report", out)
            self.assertEqual((again.returncode, again.stderr), (0, ""))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
