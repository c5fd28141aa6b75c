"""Kills a training run at random moments and fills its disk: what stands under the final name is
whole, or not there, and a run that goes on from it ends as the one that was never stopped.

Usage: train_kill_test.py STEPSCOPE [NAME_OF_TEST]. The delays are random on purpose and seeded;
nothing is expected of any of them.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from kept_records import keep

PROGRAM = ""
KILLS = 100
RESUMED = 10  # of the kills, whole runs
INTERRUPTS = 20
SEED = 20261020

# 12 steps of 4 epochs, a checkpoint behind each step.
RUN = {"--model": "mlp:64-8-4", "--data": "generated", "--backend": "reference",
       "--mode": "planned", "--optimizer": "adam", "--lr": "0.01", "--batch": "64",
       "--epochs": "4", "--steps": "12", "--partial": "pad_masked"}


def command(*arguments):
    """The run with other values for some flags, and more of them."""
    given = list(map(str, arguments))
    flags = RUN | dict(zip(given[::2], given[1::2]))
    return [PROGRAM, "train", "--quiet", *(word for pair in flags.items() for word in pair)]


def run(*arguments, **settings):
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False,
                          **settings)


def tensors_of(path):
    """The bytes behind the header of a safetensors file, and its metadata."""
    content = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    return content[8 + length:], header["__metadata__"]


def small_files():
    """In the child: files of 1000 bytes at most, and an error where the signal would kill."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))


class TrainFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="stepscope-")
        root = Path(cls.folder.name)
        begin = time.monotonic()
        result = run("--checkpoint", root / "whole", "--checkpoint-every", 1,
                     "--save-weights", root / "weights")
        cls.length = time.monotonic() - begin  # seconds; spreads the moments, decides nothing
        assert result.returncode == 0, result.stderr
        cls.end = tensors_of(root / "whole")[0]
        cls.root = root

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def fresh(self):
        made = tempfile.TemporaryDirectory(prefix="stepscope-")
        self.addCleanup(made.cleanup)
        return Path(made.name)

    def stopped(self, moment, signal_number, *arguments):
        """A run that gets the signal after `moment` seconds, unless it has ended: its status and
        what it said."""
        with subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                process.wait(timeout=moment)
            except subprocess.TimeoutExpired:
                process.send_signal(signal_number)
            return process.wait(), process.stderr.read()

    def assert_ends_alike(self, checkpoint):
        result = run("--resume", checkpoint, "--checkpoint", checkpoint)
        self.assertEqual(result.returncode, 0, result.stderr)
        end, metadata = tensors_of(checkpoint)
        self.assertEqual(end, self.end)
        self.assertEqual(metadata["epoch"], "4")
        self.assertEqual(len(json.loads(metadata["epochs"])), 4)

    def test_killed_at_any_moment(self):
        moments = random.Random(SEED)
        folder = self.fresh()
        places = set()
        resumed = 0
        for kill in range(KILLS):
            file = folder / f"c{kill}"
            self.stopped(moments.uniform(0.0, self.length), signal.SIGKILL,
                         "--checkpoint", file, "--checkpoint-every", 1)
            if not file.exists():
                places.add("none")
                continue
            _, metadata = tensors_of(file)
            places.add(metadata["steps"])
            if resumed < RESUMED and metadata["epoch"] != "4":
                resumed += 1
                self.assert_ends_alike(file)
            else:  # one that is read, with an epoch left at most
                result = run("--resume", file, "--epochs", min(4, int(metadata["epoch"]) + 1))
                self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(len(places), 2, "the moments fell together")
        self.assertGreater(resumed, 0)

    def test_a_kill_in_the_same_file_again_and_again(self):
        moments = random.Random(SEED + 1)
        folder = self.fresh()
        file = folder / "c"
        for _ in range(10):
            go_on = ["--resume", file] if file.exists() else []
            self.stopped(moments.uniform(0.0, self.length), signal.SIGKILL, *go_on,
                         "--checkpoint", file, "--checkpoint-every", 1)
        if not file.exists():
            self.assertEqual(run("--checkpoint", file).returncode, 0)
        if tensors_of(file)[1]["epoch"] != "4":
            self.assert_ends_alike(file)
        self.assertEqual(tensors_of(file)[0], self.end)
        self.assertEqual([each.name for each in folder.iterdir()], ["c"])

    def test_interrupted_at_any_moment(self):
        moments = random.Random(SEED + 2)
        folder = self.fresh()
        stopped = 0
        for i in range(INTERRUPTS):
            file = folder / f"c{i}"
            number = signal.SIGINT if i % 2 == 0 else signal.SIGTERM
            status, said = self.stopped(moments.uniform(0.0, self.length), number,
                                        "--checkpoint", file)
            if status == -number:  # before the program took notice of signals
                self.assertFalse(file.exists())
            elif status == 1:
                self.assertRegex(
                    said, rf"^stepscope: interrupted at epoch \d, step \d+; go on with --resume {file}\n$")
                stopped += 1
                if stopped <= 4:
                    self.assert_ends_alike(file)
            else:
                self.assertEqual(status, 0, said)
                self.assertEqual(tensors_of(file)[0], self.end)
        self.assertGreater(stopped, 0)

    def test_interrupted_without_a_checkpoint_writes_nothing(self):
        moments = random.Random(SEED + 3)
        folder = self.fresh()
        begin = time.monotonic()
        self.assertEqual(run("--out", folder / "whole").returncode, 0)
        length = time.monotonic() - begin
        stopped = 0
        for _ in range(20):
            status, said = self.stopped(moments.uniform(0.0, length), signal.SIGINT,
                                        "--out", folder / "out")
            stopped += status == 1
            self.assertIn(status, (0, 1, -signal.SIGINT), said)
            whole = status == 0
            if status == 1 and "the record is written" in said:
                self.assertRegex(said, "no report of it: interrupted"
                                       "(; the report of another run there was removed)?\n$")
                whole = True
            elif status == 1:
                self.assertRegex(
                    said, r"^stepscope: interrupted at epoch \d, step \d+; nothing was written\n$")
            if whole:
                record = json.loads(keep((folder / "out" / "record.json").read_text()))
                self.assertEqual(len(record["epochs"]), 4)
                (folder / "out" / "record.json").unlink()
            else:
                self.assertFalse((folder / "out" / "record.json").exists())
        self.assertGreater(stopped, 0, "no signal came while it ran")

    def assert_failed(self, result, file, reason):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr, f"stepscope: {file}: {reason}\n")

    def test_a_file_that_may_not_grow(self):
        folder = self.fresh()
        file = folder / "c"
        self.assertEqual(run("--checkpoint", file, "--epochs", 1).returncode, 0)
        before = file.read_bytes()
        limited = {"preexec_fn": small_files}
        self.assert_failed(run("--checkpoint", file, "--resume", file, **limited), file,
                           "cannot be written: File too large")
        self.assertEqual(file.read_bytes(), before)
        for flag, name in (("--json", "r.json"), ("--save-weights", "w")):
            self.assert_failed(run(flag, folder / name, **limited), folder / name,
                               "cannot be written: File too large")
        self.assert_failed(run("--out", folder, **limited), folder / "record.json",
                           "cannot be written: File too large")
        self.assertEqual([each.name for each in folder.iterdir()], ["c"])

    def test_a_disk_that_is_full(self):
        folder = self.fresh()
        mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(folder)], check=False)
        file = folder / "c"
        (folder / "filler").write_bytes(b"x" * 12288)
        self.assert_failed(run("--checkpoint", file), file,
                           "cannot be written: No space left on device")
        self.assert_failed(run("--out", folder), folder / "record.json",
                           "cannot be written: No space left on device")
        self.assertEqual([each.name for each in folder.iterdir()], ["filler"])

    def test_places_where_no_file_can_be(self):
        folder = self.fresh()
        taken = folder / "taken"
        taken.mkdir()
        self.assert_failed(run("--checkpoint", taken), taken, "cannot be written: Is a directory")
        read_only = folder / "read_only"
        read_only.write_bytes(b"old")
        read_only.chmod(0o444)
        self.assert_failed(run("--checkpoint", read_only), read_only,
                           "cannot be written: it is read-only")
        self.assertEqual(read_only.read_bytes(), b"old")
        if os.geteuid() != 0:
            taken.chmod(0o555)
            self.assert_failed(run("--checkpoint", taken / "c"), taken / "c",
                               f"cannot be written: {taken}: Permission denied")

    def test_files_that_are_no_checkpoint(self):
        folder = self.fresh()
        self.assert_failed(run("--resume", folder / "none"), folder / "none",
                           "cannot be opened: No such file or directory")
        self.assert_failed(
            run("--resume", self.root / "weights"), self.root / "weights",
            "is a safetensors file but no checkpoint: its metadata name no format")
        whole = (self.root / "whole").read_bytes()
        for size in (0, 5, 100, len(whole) // 2, len(whole) - 1):
            cut = folder / "cut"
            cut.write_bytes(whole[:size])
            result = run("--resume", cut)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith(f"stepscope: {cut}: "), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_other_work_and_other_conditions(self):
        whole = self.root / "whole"
        result = run("--resume", whole, "--epochs", 5, "--lr", "0.02")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr,
                         f"stepscope: --resume {whole}: is a checkpoint of other work: "
                         "rate is 0.01 there, 0.02 here\n")
        result = run("--resume", whole, "--epochs", 5, "--fusion", "off", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        note = "from epoch 5, step 0 on this is no continuation bit for bit: " \
               "fusion is on there, off here"
        self.assertEqual(result.stderr, f"resume: {whole}: {note}\n")
        record = json.loads(keep(result.stdout))
        self.assertIn(note, record["notes"])
        self.assertEqual([each["epoch"] for each in record["epochs"]], [1, 2, 3, 4, 5])

    def test_a_run_at_its_end_gives_what_is_asked_of_it(self):
        whole = self.root / "whole"
        folder = self.fresh()
        result = run("--resume", whole, "--json", "-", "--save-weights", folder / "weights")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(json.loads(keep(result.stdout))["epochs"]), 4)
        self.assertEqual(tensors_of(folder / "weights")[0], tensors_of(self.root / "weights")[0])
        talking = command("--resume", whole)
        talking.remove("--quiet")
        result = subprocess.run(talking, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, f"resume: {whole}: already at the end, epoch 4 of 4: "
                                        "nothing is trained\n")
        result = run("--resume", whole, "--epochs", 3)
        self.assertEqual((result.returncode, result.stderr),
                         (2, f"stepscope: --epochs 3: the checkpoint {whole} is beyond that, at "
                             "epoch 5, step 0\n"))

    def test_a_checkpoint_is_not_begun_over(self):
        folder = self.fresh()
        file = folder / "c"
        self.assertEqual(run("--checkpoint", file, "--epochs", 1).returncode, 0)
        before = file.read_bytes()
        for resume in ((), ("--resume", self.root / "whole")):
            result = run("--checkpoint", file, *resume)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stderr,
                             f"stepscope: --checkpoint {file}: is there already; go on from it with "
                             f"--resume {file}, or remove it\n")
        result = run("--checkpoint", file, "--resume", "")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--resume: is empty", result.stderr)
        self.assertEqual(file.read_bytes(), before)

    def test_two_outputs_are_not_one_file(self):
        folder = self.fresh()
        out = folder / "out"
        for flags in (("--checkpoint", folder / "x", "--save-weights", folder / "x"),
                      ("--json", folder / "out" / "record.json", "--out", out),
                      ("--json", folder / "a" / ".." / "x", "--save-weights", folder / "x"),
                      ("--resume", self.root / "whole", "--save-weights", self.root / "whole")):
            result = run(*flags)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("both name", result.stderr)
        self.assertEqual(list(folder.iterdir()), [])

    def test_outputs_are_looked_at_before_the_work(self):
        folder = self.fresh()
        for flags in (("--json", folder), ("--out", self.root / "weights"),
                      ("--json", self.root / "weights" / "r.json")):
            result = subprocess.run(command(*flags)[:2] + command(*flags)[3:], capture_output=True,
                                    text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, "", "it trained first")
            self.assertIn("cannot be written", result.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
