#!/usr/bin/env python3
"""stepscope and stepscope-sim on a machine without a GPU: what each is linked to, and what it says of CUDA.

Usage: command_test.py --bin FOLDER [--stub LIBCUDA] [unittest options]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NVIDIA = re.compile(r"lib(?:cuda|cudart|cublas|cublasLt|cudnn\w*|cupti|nvrtc|nvidia-ml)\.so\S*")
SKIPPED = 77  # exit status that ctest knows
NO_DRIVER = "cuda: no NVIDIA driver was found; install one, or take a CPU backend"
ONE_STEP = ("train", "--model", "mlp:64-8-4", "--data", "generated", "--batch", "16", "--epochs", "1", "--steps", "1",
            "--quiet")

options = argparse.Namespace()


def run(program: str, *words: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([options.bin / program, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})


def said(*command: object) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


class Links(unittest.TestCase):
    """The simulator and the real runtime are never in one program, and neither needs a library of NVIDIA's to
    start."""

    def test_stepscope(self) -> None:
        path = options.bin / "stepscope"
        self.assertEqual(NVIDIA.findall(said("ldd", path)), [])
        symbols = said("nm", path)  # megabytes, which no message should quote
        self.assertFalse("9stepscope7cudasim" in symbols, "holds the simulator")
        self.assertTrue("cudart_static" in symbols, "lacks the runtime")
        # Forwards are this program's own: the library must not find them in the place of its functions.
        self.assertTrue(" t cublasLtMatmul\n" in symbols, "the forward of cublasLtMatmul is not hidden")
        self.assertNotIn("cublasLt", said("nm", "-D", path))

    def test_stepscope_sim(self) -> None:
        path = options.bin / "stepscope-sim"
        self.assertEqual(NVIDIA.findall(said("ldd", path)), [])
        symbols = said("nm", path)
        self.assertTrue("9stepscope7cudasim" in symbols, "lacks the simulator")
        self.assertFalse("cudart_static" in symbols, "holds the real runtime")


class Command(unittest.TestCase):
    def setUp(self) -> None:
        listed = run("stepscope", "devices").stdout
        self.assertRegex(listed, r"(?m)^cuda ")
        self.assertNotRegex(listed, r"(?m)^cuda .*not part of this build")
        if NO_DRIVER not in listed:
            self.skipTest("this machine has a GPU that CUDA can use, or a driver")

    def line_of(self, backend: str, program: str = "stepscope", **environment: str) -> str:
        done = run(program, "devices", **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"{backend} ")]
        self.assertEqual(len(lines), 1, done.stdout)
        return lines[0]

    def test_devices_say_why(self) -> None:
        self.assertEqual(self.line_of("cuda"), f"cuda       not available: {NO_DRIVER}")

    def test_devices_know_the_stub(self) -> None:
        if options.stub is None:
            self.skipTest("this toolkit has no stub of libcuda")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "libcuda.so.1").symlink_to(options.stub)
            self.assertEqual(self.line_of("cuda", LD_LIBRARY_PATH=folder),
                             "cuda       not available: cuda: only the toolkit's stub of libcuda was found; take "
                             "its folder (stubs) out of the library path")

    def test_asked_for_by_name(self) -> None:
        done = run("stepscope", *ONE_STEP, "--backend", "cuda")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", f"stepscope: {NO_DRIVER}\n"))

    def test_not_asked_for(self) -> None:
        done = run("stepscope", *ONE_STEP)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_simulated_command_has_cuda_sim_in_its_place(self) -> None:
        self.assertTrue(self.line_of("cuda-sim", "stepscope-sim").startswith("cuda-sim   available"))
        self.assertTrue(run("stepscope-sim", "--version").stdout.startswith("stepscope-sim "))
        done = run("stepscope-sim", *ONE_STEP, "--backend", "cuda")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown backend 'cuda'", done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--stub", type=Path)
    _, rest = parser.parse_known_args(namespace=options)
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2).result
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
