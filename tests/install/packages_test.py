#!/usr/bin/env python3
"""The Debian packages: they are made, say what they need, and what they hold works where it is put.

Arguments: see harness.py. Left out where the tools of Debian are not.
"""
# SPDX-License-Identifier: Apache-2.0
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import harness
from harness import options, run

TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "file")


@unittest.skipUnless(all(shutil.which(tool) for tool in TOOLS), f"needs {', '.join(TOOLS)}")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="stepscope-packages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cpack = Path(options.cmake).with_name("cpack")
        run(cpack, "--config", options.build / "CPackConfig.cmake", "-B", cls.folder,
            cwd=cls.folder)
        cls.packages = {path.name.split("_")[0]: path for path in cls.folder.glob("*.deb")}

    def field(self, package: str, name: str) -> str:
        return run("dpkg-deb", "-f", self.packages[package], name).stdout.strip()

    def files(self, package: str) -> set[str]:
        listing = run("dpkg-deb", "-c", self.packages[package]).stdout
        return {line.split()[5].lstrip(".") for line in listing.splitlines()}

    def unpacked(self, package: str) -> Path:
        place = self.folder / f"unpacked {package}"
        run("dpkg", "-x", self.packages[package], place)
        return place / "usr"

    def test_there_are_two(self) -> None:
        self.assertEqual(set(self.packages), {"stepscope", "libstepscope-dev"})

    def test_fields(self) -> None:
        for package, section in (("stepscope", "science"), ("libstepscope-dev", "libdevel")):
            self.assertEqual(self.field(package, "Version"), options.version)
            self.assertEqual(self.field(package, "Section"), section)
            self.assertRegex(self.field(package, "Maintainer"), r"^\S.* <\S+@\S+>$")
            self.assertRegex(self.field(package, "Description"), r"^\S.{20,79}\n \S")
            self.assertEqual(self.field(package, "Homepage"), "")
        for library in ("libc6", "libstdc++6", "libfmt", "zlib1g"):
            self.assertIn(library, self.field("stepscope", "Depends"))
        self.assertIn("libfmt-dev", self.field("libstepscope-dev", "Depends"))

    def test_files(self) -> None:
        program = self.files("stepscope")
        for name in ("bin/stepscope", "share/man/man1/stepscope.1", "share/doc/stepscope/modes.md",
                     "share/bash-completion/completions/stepscope",
                     "share/zsh/site-functions/_stepscope",
                     "share/fish/vendor_completions.d/stepscope.fish",
                     "share/stepscope/examples/first_step.cpp", "share/doc/stepscope/examples"):
            self.assertIn(f"/usr/{name}", program)
        pages = self.unpacked("stepscope") / "share/doc/stepscope"
        self.assertTrue((pages / "examples/first_step.cpp").is_file())
        self.assertEqual([name for name in program if re.search(r"\.(a|h|cmake)$", name)], [])
        development = self.files("libstepscope-dev")
        for name in ("lib/libstepscope_ir.a", "lib/libstepscope_conformance.a",
                     "lib/cmake/stepscope/stepscope-config.cmake",
                     "lib/cmake/stepscope/stepscope-targets.cmake",
                     "include/stepscope/ops/ir/graph.h", "include/stepscope/ops/ir/op_list.inc",
                     "include/stepscope/tests/conformance/conformance.h"):
            self.assertIn(f"/usr/{name}", development)
        self.assertEqual([name for name in development if "/bin/" in name], [])

    def test_program_runs_unpacked(self) -> None:
        prefix = self.unpacked("stepscope")
        said = run(prefix / "bin/stepscope", "--version").stdout
        self.assertEqual(said, f"stepscope {options.version}\n")
        run(prefix / "bin/stepscope", "explain", "--model", "mlp:4-3-2", "--backend", "reference")

    def test_libraries_are_found_unpacked(self) -> None:
        source = self.folder / "asks"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(asks LANGUAGES CXX)\n"
            "find_package(stepscope 0.1 REQUIRED COMPONENTS execution conformance)\n")
        run(options.cmake, "-S", source, "-B", source / "build", "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={options.compiler}",
            f"-DCMAKE_PREFIX_PATH={self.unpacked('libstepscope-dev')}")


if __name__ == "__main__":
    harness.main()
