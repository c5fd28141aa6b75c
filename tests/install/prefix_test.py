#!/usr/bin/env python3
"""The installed prefix, moved: its program, its headers and libraries, and a project that uses them.

Arguments: see harness.py. The project is tests/install/consumer.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import unittest
from pathlib import Path

import harness
from harness import options, run

CONSUMER = Path(__file__).resolve().parent / "consumer"


class Prefix(unittest.TestCase):
    scratch: harness.Scratch
    prefix: Path
    build: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = harness.Scratch()
        cls.prefix = cls.scratch.prefix
        cls.build = cls.scratch.folder / "consumer"

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.remove()

    def configure(self, *settings: str, folder: str = "other", source: Path = CONSUMER,
                  status: int | None = 0):
        return run(options.cmake, "-S", source, "-B", self.scratch.folder / folder, "-G", "Ninja",
                   f"-DCMAKE_CXX_COMPILER={options.compiler}",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", *settings, status=status)

    def cache(self) -> str:
        return (options.build / "CMakeCache.txt").read_text()

    def test_program_runs_from_there(self) -> None:
        program = self.prefix / "bin/stepscope"
        self.assertEqual(run(program, "--version").stdout, f"stepscope {options.version}\n")
        run(program, "devices")

    def test_no_path_of_the_build_machine(self) -> None:
        """But in what a debugger reads, which a release build does not have."""
        places = [str(path).encode() for path in (options.source, options.build)]
        stripped = self.scratch.folder / "stripped"
        found = []
        for path in self.prefix.rglob("*"):
            if not path.is_file():
                continue
            if path.suffix == ".a" or path.parent.name == "bin":
                run("strip", "--strip-debug", "-o", stripped, path)
                text = stripped.read_bytes()
            else:
                text = path.read_bytes()
            if any(place in text for place in places):
                found.append(path.relative_to(self.prefix).as_posix())
        self.assertEqual(found, [])

    def test_documents_and_examples_are_there(self) -> None:
        for name in ("share/doc/stepscope/installing.md", "share/doc/stepscope/LICENSE",
                     "share/stepscope/examples/first_step.cpp", "share/man/man1/stepscope.1",
                     "share/bash-completion/completions/stepscope",
                     "share/zsh/site-functions/_stepscope",
                     "share/fish/vendor_completions.d/stepscope.fish"):
            self.assertTrue((self.prefix / name).is_file(), name)
        for shell, place in (("bash", "bash-completion/completions/stepscope"),
                             ("zsh", "zsh/site-functions/_stepscope"),
                             ("fish", "fish/vendor_completions.d/stepscope.fish")):
            said = run(self.prefix / "bin/stepscope", "completion", shell).stdout
            self.assertEqual((self.prefix / "share" / place).read_text(), said)

    def test_links_of_pages_lead_somewhere(self) -> None:
        """Within the prefix: what a page links to is installed where the link says."""
        pages = self.prefix / "share/doc/stepscope"
        broken, links = [], 0
        for page in sorted(pages.rglob("*.md")):
            for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if "://" in link or link.startswith("#"):
                    continue
                links += 1
                target = (page.parent / link.split("#")[0]).resolve()
                if not target.exists() or not target.is_relative_to(self.prefix.resolve()):
                    broken.append(f"{page.relative_to(pages)}: {link}")
        self.assertEqual(broken, [])
        self.assertGreater(links, 40)
        self.assertTrue((pages / "examples").is_symlink())
        self.assertEqual((pages / "examples").readlink().as_posix(), "../../stepscope/examples")

    def test_builds_without_gtest(self) -> None:
        """Without the tests, the conformance suite is built all the same."""
        build = self.scratch.folder / "no-gtest"
        run(options.cmake, "-S", options.source, "-B", build, "-G", "Ninja",
            f"-DCMAKE_CXX_COMPILER={options.compiler}", "-DSTEPSCOPE_TESTS=OFF",
            "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON")
        self.assertIn("libstepscope_conformance.a: phony", (build / "build.ninja").read_text())
        commands = (build / "compile_commands.json").read_text()
        self.assertIn("tests/conformance/checks.cpp", commands)
        self.assertNotIn("_test.cpp", commands)

    def test_headers_are_complete(self) -> None:
        """What one includes is installed as well, and all of them compile."""
        root = self.prefix / "include/stepscope"
        headers = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.h"))
        self.assertGreater(len(headers), 40)
        for header in headers:
            includes = [line.split('"')[1] for line in (root / header).read_text().splitlines()
                        if line.startswith('#include "')]
            for name in includes:
                self.assertTrue((root / name).is_file(), f"{header} includes {name}")
                self.assertNotRegex(name, "^tests/(?!conformance/)")
        code = "".join(f'#include "{header}"\n' for header in headers)
        source = self.scratch.folder / "all.cpp"
        source.write_text(code)
        run(options.compiler, "-std=c++20", "-fsyntax-only", "-fopenmp", f"-I{root}", source)
        self.assertNotIn("gtest", "".join((root / header).read_text() for header in headers))

    def test_project(self) -> None:
        examples = self.prefix / "share/stepscope/examples"
        self.configure(f"-DEXAMPLES={examples}", "-DCMAKE_BUILD_TYPE=Debug", folder="consumer")
        commands = json.loads((self.build / "compile_commands.json").read_text())
        for command in commands:
            self.assertNotIn("-W", command["command"])
            self.assertNotIn("-fopenmp", command["command"])
            own_kernels = "softplus" in command["file"] or "plain_backend" in command["file"]
            self.assertEqual("-ffp-contract=off" in command["command"], own_kernels)
        run(options.cmake, "--build", self.build, "-j2")
        good = run(self.build / "consumer").stdout
        self.assertIn("ok: consumer of stepscope", good)
        self.assertNotIn("WRONG", good)
        defect = run(self.build / "consumer", "defect", status=1).stdout
        self.assertRegex(defect, r"failed: Add \w+, drawn: value: output 0, element \d+: got")
        self.assertIn("WRONG: the backend conforms", defect)
        self.run_example()

    def run_example(self) -> None:
        text = run(self.build / "first_step").stdout
        rows = [line.split() for line in text.splitlines() if " launches one by one" in line]
        self.assertEqual([row[0] for row in rows], ["eager", "planned", "graph"])
        self.assertEqual(len({tuple(row[1:5]) for row in rows}), 1, text)  # losses, bit for bit
        losses = [float(rows[0][2]), float(rows[0][4].rstrip(","))]
        self.assertLess(losses[1], 0.5 * losses[0])
        page = (options.source / "docs/cpp-api.md").read_text()
        self.assertIn("\n".join(text.splitlines()[-3:]), page)

    def test_page_on_installing(self) -> None:
        """Its CMake lines work as they stand, and every component that it names is there."""
        page = (options.source / "docs/installing.md").read_text()
        source = self.scratch.folder / "page"
        source.mkdir()
        block = page.split("```cmake\n")[1].split("```")[0]
        (source / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\n{block}"
            'message(STATUS "known: ${stepscope_COMPONENTS_KNOWN};")\n')
        (source / "main.cpp").write_text(
            '#include "backends/registry/registry.h"\n#include "ops/ir/graph.h"\n'
            "int main() { return stepscope::Registry::builtin().names().empty() ? 1 : 0; }\n")
        said = self.configure(folder="page-build", source=source).stdout
        run(options.cmake, "--build", self.scratch.folder / "page-build")
        run(self.scratch.folder / "page-build/mine")
        known = set(re.search("known: (.*);\n", said).group(1).split(";"))
        table = page.split("| Component, ")[1].split("\n\n")[0]
        named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] + "\n" for line in
                                                   table.splitlines()[2:])))
        self.assertGreater(len(named), 20)
        # The last is there where the build found CUDA's toolkit.
        self.assertEqual(named - known - {"bench", "backend_cuda"}, set())

    def test_what_is_missing_is_named(self) -> None:
        source = self.scratch.folder / "asks"
        source.mkdir()
        lists = source / "CMakeLists.txt"
        head = "cmake_minimum_required(VERSION 3.25)\nproject(asks LANGUAGES CXX)\n"

        def asks(call: str, *settings: str) -> str:
            lists.write_text(f"{head}find_package(stepscope {call})\n"
                             'message(STATUS "plan:${stepscope_plan_FOUND} '
                             'absent:${stepscope_absent_FOUND} all:${stepscope_FOUND}")\n')
            done = self.configure("--fresh", *settings, folder="asks-build", source=source,
                                  status=None)
            return " ".join((done.stdout + done.stderr).split())

        self.assertIn("plan:TRUE absent:FALSE all:1",
                      asks("0.1 REQUIRED COMPONENTS plan OPTIONAL_COMPONENTS absent"))
        self.assertIn("no component 'absent' in this installation; there are: analysis, autodiff, backend_api",
                      asks("0.1 REQUIRED COMPONENTS absent"))
        self.assertIn("version", asks("0.2 REQUIRED"))
        self.assertIn("needs fmt (libfmt-dev), which was not found",
                      asks("0.1 REQUIRED", "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"))
        self.assertIn("needs zlib (zlib1g-dev), which was not found",
                      asks("0.1 REQUIRED COMPONENTS data", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"))
        if re.search(r"(?m)^DNNL_LIBRARY:.*=/", self.cache()):
            self.assertIn("component 'backend_onednn' needs oneDNN 2 (libdnnl-dev), which was not "
                          "found", asks("0.1 REQUIRED COMPONENTS backend_onednn",
                                        "-DSTEPSCOPE_DNNL_LIBRARY="))
        if re.search(r"backend_cuda[, ]", asks("0.1 REQUIRED COMPONENTS absent")):
            self.assertIn("component 'registry' needs the CUDA toolkit 13 (its static runtime; "
                          "cuda-cudart-dev-13-0), which was not found",
                          asks("0.1 REQUIRED COMPONENTS registry",
                               "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"))
        # No test library is asked for, nor what only our own sources include.
        self.assertIn("all:1", asks("0.1 REQUIRED", *(
            f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON"
            for name in ("GTest", "ZLIB", "Eigen3", "nlohmann_json", "CLI11", "benchmark"))))


if __name__ == "__main__":
    harness.main()
