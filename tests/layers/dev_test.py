#!/usr/bin/env python3
"""What ./dev promises without building anything: verbs, usage errors, packages, paths with spaces.

dpkg-query, sudo and apt-get are stand-ins on PATH that write down how they were called.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERBS = "build compare train test fuzz bench package format lint clean".split()


class Dev(unittest.TestCase):
    """`dev` alone in a folder with a space in its name, called from another folder."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.home = self.scratch / "a b"
        self.tools = self.scratch / "tools"
        self.calls = self.scratch / "calls"
        self.home.mkdir()
        self.tools.mkdir()
        shutil.copy(ROOT / "dev", self.home / "dev")

    def stand_in(self, tool: str, body: str = "") -> None:
        path = self.tools / tool
        path.write_text(f'#!/bin/sh\necho "{tool} $*" >> "{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def dev(self, *words: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"}
        return subprocess.run([str(self.home / "dev"), *words], cwd=self.scratch, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_alone_lists_every_verb(self) -> None:
        result = self.dev()
        self.assertEqual(result.returncode, 0)
        for verb in VERBS:
            self.assertRegex(result.stdout, rf"(?m)^  {verb}\b.*  \w")

    def test_unknown_verb_names_the_nearest(self) -> None:
        for typo, verb in (("biuld", "build"), ("tset", "test"), ("compar", "compare")):
            result = self.dev(typo)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertIn(f"dev: unknown verb '{typo}': did you mean '{verb}'?", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_usage_errors_are_one_line_and_status_2(self) -> None:
        for words, message in ((("--preset", "asn", "build"), "did you mean 'asan'?"),
                               (("build", "--preset"), "--preset wants a name"),
                               (("--loud", "build"), "unknown option '--loud'"),
                               (("clean", "all"), "clean takes no arguments")):
            result = self.dev(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_no_install_only_prints(self) -> None:
        self.stand_in("dpkg-query", "for p; do echo \"installed $p\"; done | grep -v fmt")
        self.stand_in("apt-get")
        for verb in VERBS[:6]:
            result = self.dev(verb, "--no-install")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, "missing: libfmt-dev\ninstall with: apt-get install "
                                            "--no-install-recommends libfmt-dev\n")
        self.assertEqual([call for call in self.called() if call.startswith("apt-get")], [])
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["dev"])

    def test_no_install_with_nothing_missing(self) -> None:
        self.stand_in("dpkg-query", "for p; do echo \"installed $p\"; done")
        self.assertEqual(self.dev("--no-install", "lint").stdout, "nothing is missing\n")

    def test_fuzz_takes_known_targets_and_whole_seconds(self) -> None:
        for words, message in ((("nyp",), "unknown fuzzing target 'nyp': did you mean 'npy'?"),
                               (("--seconds", "0"), "--seconds: '0' is no whole number"),
                               (("--seconds=1.5",), "--seconds: '1.5' is no whole number"),
                               (("--seconds",), "--seconds wants a number")):
            result = self.dev("fuzz", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_fuzz_needs_the_fuzzing_library(self) -> None:
        self.stand_in("dpkg-query")
        self.assertIn("libclang-rt-14-dev", self.dev("--no-install", "fuzz").stdout)

    def test_fuzz_targets_are_those_of_the_build(self) -> None:
        lists = (ROOT / "tests/fuzz/CMakeLists.txt").read_text()
        readers = re.search(r"set\(fuzz_readers ([^)]*)\)", lists).group(1)
        self.assertIn(f"fuzz_targets=({readers})", (ROOT / "dev").read_text())

    def test_compare_needs_no_compiler_of_the_checks(self) -> None:
        self.stand_in("dpkg-query")
        self.assertNotIn("clang", self.dev("--no-install", "compare").stdout)
        self.assertIn("clang-tidy", self.dev("--no-install", "lint").stdout)
        self.assertIn("clang-14", self.dev("--no-install", "--preset", "clang", "build").stdout)

    def test_no_install_keeps_what_clean_would_remove(self) -> None:
        (self.home / "build").mkdir()
        self.assertEqual(self.dev("--no-install", "clean").returncode, 0)
        self.assertTrue((self.home / "build").exists())
        self.assertEqual(self.dev("clean").returncode, 0)
        self.assertFalse((self.home / "build").exists())

    def test_update_that_fails_is_tried_again_once(self) -> None:
        self.stand_in("dpkg-query")
        self.stand_in("sleep")
        for tool in ("apt-get", "sudo"):  # whoever runs this test, one of the two is asked
            self.stand_in(tool, "exit 100")
        result = self.dev("format")
        self.assertEqual(result.returncode, 1)
        self.assertIn("dev: apt-get update failed; run as root: apt-get install", result.stderr)
        updates = [call for call in self.called() if call.endswith(" update")]
        self.assertEqual(len(updates), 2, self.called())


if __name__ == "__main__":
    unittest.main()
