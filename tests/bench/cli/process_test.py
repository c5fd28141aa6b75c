"""The command among other processes: a standard output that takes nothing, too little memory,
signals to the process that others wait for.

Usage: process_test.py STEPSCOPE [NAME_OF_TEST]. No clock decides anything: what is waited for is
seen, and a test that hangs is ended by its timeout.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from kept_records import keep

PROGRAM = ""
TRAIN = ("train", "--quiet", "--data", "generated", "--backend", "reference", "--mode", "planned",
         "--epochs", "1", "--steps", "2", "--batch", "64", "--model")
SMALL = "mlp:64-8-4"
MEMORY = 1 << 30  # bytes of address space: less than the threads or the ring ask for


def run(*words, **settings):
    return subprocess.run([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True,
                          check=False, **({"stdout": subprocess.PIPE} | settings))


def is_sanitized():
    """Sanitizers take terabytes of addresses for themselves."""
    program = Path(PROGRAM).read_bytes()
    return any(name in program for name in (b"__asan_init", b"__tsan_init", b"__msan_init"))


def children_of(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def catches(process, number):
    """Whether the process has a handler for the signal."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return int(line.split()[1], 16) >> (number - 1) & 1 == 1
    return False


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Processes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="stepscope-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def start(self, *words):
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True,
                                   env=os.environ | {"TMPDIR": str(self.folder)})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, holds, process):
        while not holds():
            self.assertIsNone(process.poll(), "it ended too early")
            time.sleep(0.005)

    def test_standard_output_that_is_full(self):
        for words in (["devices"], ["explain", "--model", "mlp"], ["--version"], ["--help"],
                      ["completion", "bash"], ["lab", "--make-data", self.folder / "set"], (*TRAIN, SMALL)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = run(*words, stdout=full)
            self.assertEqual(result.returncode, 1, words)
            self.assertTrue(result.stderr.startswith(
                "stepscope: standard output: cannot be written: "), (words, result.stderr))
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            if words == ["devices"]:
                self.assertIn("No space left on device", result.stderr)

    def limited(self, *words):
        limit = (MEMORY, resource.RLIM_INFINITY)
        result = run(*TRAIN, *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                           limit))
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr

    def test_threads_that_cannot_start(self):
        if is_sanitized():
            self.skipTest("a sanitizer build")
        self.assertRegex(
            self.limited(SMALL, "--loader-workers", 1000, "--prefetch", 1),
            r"^stepscope: loader: thread \d+ of 1000 cannot be started: .+\n$")

    def test_memory_that_is_not_there(self):
        if is_sanitized():
            self.skipTest("a sanitizer build")
        self.assertEqual(
            self.limited("mlp:10000-8-4", "--loader-workers", 1, "--prefetch", 4000),
            "stepscope: loader: no memory for 4001 batches of 64 rows of 10000 features, "
            "10242560000 bytes: fewer batches ahead (--prefetch), fewer workers or smaller batches "
            "take less\n")

    def test_lab_is_stopped_and_takes_back_what_it_wrote(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("lab", "--shape", "mnist", "--images", 1000000, "--make-data",
                                 self.folder / "set")
            self.wait_until(lambda: catches(process.pid, number), process)
            process.send_signal(number)
            _, said = process.communicate()
            self.assertEqual(process.returncode, 1, said)
            self.assertEqual(said, "stepscope: interrupted; what was written is taken back\n")
            self.assertEqual(list(self.folder.iterdir()), [])

    def compare(self):
        """A parent that waits for its first child."""
        process = self.start("compare", "--model", "mlp:64-8-4", "--data", "generated", "--batch",
                             32, "--backend", "reference,null", "--budget", "60s", "--quiet")
        self.wait_until(lambda: children_of(process.pid), process)
        return process, int(children_of(process.pid)[0])

    def test_a_signal_to_compare_reaches_its_child(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            for child_is_up in (False, True):
                process, child = self.compare()
                if child_is_up:
                    self.wait_until(lambda: catches(child, number), process)
                process.send_signal(number)
                _, said = process.communicate()  # until the child has closed it, too
                self.assertEqual(process.returncode, 1, said)
                self.assertIn("stepscope: interrupted; nothing was written\n", said)
                self.assertFalse(is_running(child))
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_child_of_compare_ends_with_its_parent(self):
        process, child = self.compare()
        self.wait_until(lambda: catches(child, signal.SIGTERM), process)
        process.kill()
        process.communicate()  # until the child has closed it, too
        while is_running(child):
            time.sleep(0.005)

    def test_a_killed_child_of_compare_is_named_and_nothing_is_written(self):
        out = self.folder / "out"
        process = self.start("compare", "--model", "mlp:64-8-4", "--data", "generated", "--batch",
                             32, "--backend", "reference", "--quiet", "--out", out)
        self.wait_until(lambda: children_of(process.pid), process)
        child = int(children_of(process.pid)[0])
        self.wait_until(lambda: catches(child, signal.SIGTERM), process)
        os.kill(child, signal.SIGKILL)
        _, said = process.communicate()
        self.assertEqual(process.returncode, 1, said)
        self.assertEqual(said, "stepscope: compare: the pilot of reference ended by signal 9; "
                               "nothing was written\n")
        self.assertFalse((out / "record.json").exists())

    def test_a_full_disk_leaves_no_part_of_a_record(self):
        out = self.folder / "out"
        words = ("compare", "--model", "chain:3", "--backend", "null", "--batch", 1, "--quick",
                 "--budget", "1ms", "--quiet", "--out", out)
        full = run(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                 (4096, resource.RLIM_INFINITY)))
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertRegex(full.stderr, r"record\.json.*File too large\n$")
        self.assertEqual([path for path in out.rglob("*") if path.is_file()], [])
        self.assertEqual(run(*words).returncode, 0)
        keep((out / "record.json").read_text())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
