#!/usr/bin/env python3
"""capture_probe: the simulator's answers are the committed ones, and the real libraries' where there is
no GPU; no program holds both the simulator and a library of NVIDIA's.

STEPSCOPE_WRITE_GOLDEN=1 in the environment writes the files of tests/golden/cuda anew.
Usage: probe_test.py --build BUILD [--stub LIBCUDA] [unittest options]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import compare_probe

ROOT = Path(__file__).resolve().parents[4]
GOLDEN = ROOT / "tests/golden/cuda"
SKIPPED = 77  # exit status that ctest knows
# Found without a GPU: what a document leaves open must carry the mark.
OPEN_RULES = {2, 3, 5, 6, 7, 8, 33}
NVIDIA = re.compile(r"lib(cuda|cudart|cublas|cublasLt|cudnn\w*|cupti|nvrtc)\.so")

options = argparse.Namespace()


def probe(program: str, *arguments: str, status: int = 0, **environment: str) -> str:
    """What it printed; fails with all it said when it ended with another status."""
    done = subprocess.run([options.build / "bin" / program, *arguments], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, **environment})
    if done.returncode != status:
        raise AssertionError(f"{program} {' '.join(arguments)}: status {done.returncode}, expected "
                             f"{status}\n{done.stdout}{done.stderr}"[-8000:])
    # The files hold 13.0's number; another toolkit of 13 may be the one that is installed.
    return re.sub(r"\b13\d{3}\b", "13000", done.stdout)


def simulated(driver: str = "present") -> str:
    return probe("capture_probe_sim", STEPSCOPE_CUDASIM_DRIVER=driver)


class Case(unittest.TestCase):
    def expect_same(self, expected: str, actual: str, names: tuple[str, str]) -> None:
        difference = list(difflib.unified_diff(expected.splitlines(), actual.splitlines(), *names,
                                               lineterm="", n=1))
        self.assertEqual(difference, [], "\n" + "\n".join(difference))

    def expect_golden(self, name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("STEPSCOPE_WRITE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        self.assertTrue(path.exists(), f"{path} is missing; STEPSCOPE_WRITE_GOLDEN=1 writes it")
        self.expect_same(path.read_text(), text, (f"tests/golden/cuda/{name}", "printed"))


class Simulator(Case):
    """The simulator's answers, with a device and without."""

    def test_with_a_device(self) -> None:
        self.expect_golden("capture_probe.txt", simulated())

    def test_without_a_driver(self) -> None:
        self.expect_golden("no_driver.txt", simulated("none"))

    def test_with_the_stub_driver(self) -> None:
        self.expect_golden("stub_driver.txt", simulated("stub"))

    def test_other_machines(self) -> None:
        for driver, code in (("old", "35 cudaErrorInsufficientDriver"),
                             ("no_device", "100 cudaErrorNoDevice")):
            lines = compare_probe.read(simulated(driver))
            answers = {line.asked: line.answer for line in lines}
            for call in ("cudaMalloc", "cudaStreamCreate", "cudaGraphLaunch", "cudaGetDeviceCount"):
                self.assertEqual(answers[f"calls {call}"], code, driver)
            self.assertEqual(answers["calls cublasLtCreate"], "1 CUBLAS_STATUS_NOT_INITIALIZED")

    def test_runs_say_the_same(self) -> None:
        self.expect_same(simulated(), simulated(), ("first run", "second run"))


class Coverage(Case):
    """Everything that can be asked is asked."""

    def test_every_rule(self) -> None:
        listed = probe("capture_probe_sim", "--list")
        self.assertEqual([int(word) for word in re.findall(r"^(\d+) ", listed, re.MULTILINE)],
                         list(range(1, 37)))

    def test_every_call(self) -> None:
        calls = re.findall(r"^CALL\((\w+),", (ROOT / "backends/cuda/sim/calls.inc").read_text(),
                           re.MULTILINE)
        lines = compare_probe.read(simulated("none"))
        asked = [line.asked.split()[1] for line in lines if line.asked.startswith("calls ")]
        self.assertEqual(sorted(asked), sorted(calls))

    def test_open_questions_are_marked(self) -> None:
        marked = {int(line.asked.split()[1]) for line in compare_probe.read(simulated())
                  if line.marked and line.asked.startswith("rule ")}
        self.assertEqual(OPEN_RULES - marked, set())

    def test_every_kernel_is_compiled(self) -> None:
        """Each .cu as C++ for the simulator, and by nvcc where there is one."""
        compiled: dict[Path, set[bool]] = {}
        for entry in json.loads((options.build / "compile_commands.json").read_text()):
            file = (Path(entry["directory"]) / entry["file"]).resolve()
            if file.suffix == ".cu":
                by_nvcc = "nvcc" in Path(entry["command"].split()[0]).name
                compiled.setdefault(file, set()).add(by_nvcc)
        wanted = {False, True} if options.nvcc else {False}
        for folder in ("backends/cuda", "tests/backends/cuda"):
            for file in sorted((ROOT / folder).rglob("*.cu")):
                self.assertEqual(compiled.get(file, set()), wanted, file)


class Real(Case):
    """NVIDIA's own libraries, where there is no GPU: the simulator says what they say."""

    def setUp(self) -> None:
        if not options.real:
            self.skipTest("capture_probe was not built against the real libraries")
        first = probe("capture_probe", "--driver-only").splitlines()[0]
        if not first.endswith("driver 0"):
            self.skipTest(f"this machine has a driver: {first}")

    def test_without_a_driver(self) -> None:
        real = probe("capture_probe")
        self.expect_golden("no_driver.txt", real)
        self.expect_same(real, simulated("none"), ("real", "simulator"))


class Stub(Case):
    """The toolkit's stub of the driver, which stands before a driver that the machine may have."""

    def test_with_the_stub_driver(self) -> None:
        if not options.real:
            self.skipTest("capture_probe was not built against the real libraries")
        if options.stub is None:
            self.skipTest("this toolkit has no stub of libcuda")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "libcuda.so.1").symlink_to(options.stub)
            real = probe("capture_probe", LD_LIBRARY_PATH=folder)
        self.expect_golden("stub_driver.txt", real)
        self.expect_same(real, simulated("stub"), ("real", "simulator"))


class Device(Case):
    """A GPU: no line that a document settles may differ from the simulator's."""

    def test_agrees(self) -> None:
        if not options.real:
            self.skipTest("capture_probe was not built against the real libraries")
        actual = probe("capture_probe")
        if actual.splitlines()[1].startswith("device: none"):
            self.skipTest("this machine has no GPU that CUDA can use")
        found = compare_probe.compare((GOLDEN / "capture_probe.txt").read_text(), actual)
        print("settled by this device:", *found.settled, sep="\n  ")
        self.assertEqual(found.contradictions, [])


class Comparison(Case):
    """compare_probe tells contradictions from settled questions."""

    EXPECTED = ("capture_probe: CUDA runtime 13000, driver 13000\n"
                "rule 01   one          -> 0 cudaSuccess\n"
                "rule 01   two          -> 900 cudaError  [device]\n"
                "rule 01     then end   -> 901 cudaError\n")

    def compare(self, *changes: tuple[str, str]) -> compare_probe.Differences:
        text = self.EXPECTED
        for old, new in changes:
            text = text.replace(old, new)
        return compare_probe.compare(self.EXPECTED, text)

    def test_the_machine_does_not_matter(self) -> None:
        self.assertEqual(self.compare(("driver 13000", "driver 13010")), ([], []))

    def test_marked(self) -> None:
        self.assertEqual(self.compare(("900 cudaError ", "901 cudaOther ")),
                         ([], ["rule 01 two: expected 900 cudaError, got 901 cudaOther"]))

    def test_not_marked(self) -> None:
        self.assertEqual(self.compare(("0 cudaSuccess", "1 cudaError")).contradictions,
                         ["rule 01 one: expected 0 cudaSuccess, got 1 cudaError"])

    def test_missing(self) -> None:
        end = "rule 01     then end   -> 901 cudaError\n"
        self.assertEqual(self.compare((end, "")).contradictions,
                         ["missing: rule 01 then end -> 901 cudaError"])
        both = self.compare((end, ""), ("900 cudaError ", "0 cudaSuccess "))
        self.assertEqual((len(both.contradictions), len(both.settled)), (0, 2))


class Usage(Case):
    def test_mistakes(self) -> None:
        for arguments in (["--nothing"], ["--rule"], ["--rule", "37"], ["--limit", "0"],
                          ["--limit", "many"]):
            probe("capture_probe_sim", *arguments, status=2)

    def test_one_rule(self) -> None:
        alone = probe("capture_probe_sim", "--rule", "4")
        self.assertIn(alone, simulated())
        self.assertTrue(all(line.startswith("rule 04 ") for line in alone.splitlines()))

    def test_driver_only(self) -> None:
        self.assertNotIn("rule ", probe("capture_probe_sim", "--driver-only"))

    def test_a_part_that_fails(self) -> None:
        text = probe("capture_probe_sim", status=1, STEPSCOPE_CUDASIM_DRIVER="no such one")
        self.assertIn("driver    FAILED: ended with status 2", text)


class Programs(Case):
    """What is linked to what, of every program that was built."""

    @staticmethod
    def said(*command: object) -> str:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False).stdout

    def test_simulator_or_libraries(self) -> None:
        simulators, real = [], []
        for path in sorted((options.build / "bin").iterdir()):
            if not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
                continue
            simulates = "9stepscope7cudasim" in self.said("nm", path)
            libraries = NVIDIA.findall(self.said("ldd", path))
            self.assertFalse(simulates and libraries,
                             f"{path.name} holds the simulator and links {libraries}")
            (simulators if simulates else real if libraries else []).append(path.name)
        self.assertIn("capture_probe_sim", simulators)
        if options.real:
            self.assertIn("capture_probe", real)

    def test_real_program_has_no_simulator(self) -> None:
        if not options.real:
            self.skipTest("capture_probe was not built against the real libraries")
        self.assertNotIn("cudasim", self.said("nm", "-C", options.build / "bin/capture_probe"))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--stub", type=Path)
    parser.add_argument("--nvcc", action="store_true", help="nvcc compiles the kernels, too")
    parser.add_argument("--real", action="store_true", help="capture_probe was built")
    _, rest = parser.parse_known_args(namespace=options)
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2).result
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    return SKIPPED if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
