#!/usr/bin/env python3
"""Plants one violation at a time in a copy of the tree, and sees that its rule fires, and only that.

Usage: self_test.py [unittest options]
"""
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import headers
import layers
import rules
import sources

ROOT = Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CXX", "c++")


class Planted(unittest.TestCase):
    """A copy of the floors, one for each class; what a test plants is taken out after it."""

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = Path(scratch.name)
        cls.furnish()
        cls.before = cls.find()

    @classmethod
    def furnish(cls) -> None:
        for floor in rules.FLOORS:
            shutil.copytree(ROOT / floor, cls.root / floor)

    @classmethod
    def find(cls) -> list:
        return layers.findings(cls.root)

    def plant(self, name: str, text: str, *, on_top: bool = False) -> None:
        """Adds text to the end (or the top) of a file, which it makes if need be."""
        path = self.root / name
        old = path.read_text() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + (old or "") if on_top else (old or "") + text)
        self.addCleanup(path.unlink if old is None else lambda: path.write_text(old))

    def expect(self, name: str, text: str, *words: str, **where: bool) -> None:
        """Planted, the text gives exactly one new finding: in that file, with those words."""
        self.plant(name, text, **where)
        new = [finding for finding in self.find() if finding not in self.before]
        self.assertEqual(len(new), 1, new)
        self.assertTrue(str(new[0]).startswith(f"{name}:"), new[0])
        for word in words:
            self.assertIn(word, str(new[0]))
        self.doCleanups()

    def expect_nothing(self, name: str, text: str) -> None:
        self.plant(name, text)
        self.assertEqual([finding for finding in self.find() if finding not in self.before], [])
        self.doCleanups()


class Includes(Planted):
    def test_include_up_a_floor(self) -> None:
        self.expect("ops/ir/graph.h", '#include "backends/api/stream.h"\n',
                    "ops must not use backends/api/stream.h", "ops <- graph <- backends <- bench")

    def test_include_up_in_angle_brackets(self) -> None:
        self.expect("graph/plan/plan.h", "#  include <bench/record/record.h>\n",
                    "write it in quotes")

    def test_include_up_inside_a_floor(self) -> None:
        self.expect("ops/base/error.h", '#include "ops/ir/graph.h"\n',
                    "ops/base must not use ops/ir/graph.h")

    def test_models_are_above_autodiff(self) -> None:
        self.expect("ops/autodiff/backward.h", '#include "ops/models/model.h"\n',
                    "ops/autodiff must not use ops/models/model.h")

    def test_backend_may_not_know_another(self) -> None:
        self.expect("backends/null/null.h", '#include "backends/reference/reference.h"\n',
                    "backends/null must not use backends/reference/reference.h")

    def test_new_backend_needs_no_row(self) -> None:
        self.expect_nothing("backends/mine/mine.h", '#include "backends/cpu/anything.h"\n'
                                                    '#include "backends/api/host.h"\n'
                                                    '#include "backends/mine/part.h"\n')

    def test_new_backend_may_not_know_the_executors(self) -> None:
        self.expect("backends/mine/mine.h", '#include "backends/execution/executor.h"\n',
                    "backends/mine must not use backends/execution/executor.h")

    def test_execution_knows_no_backend(self) -> None:
        self.expect("backends/execution/executor.h", '#include "backends/null/null.h"\n',
                    "backends/execution must not use backends/null/null.h")

    def test_registry_knows_all_backends(self) -> None:
        self.expect_nothing("backends/registry/more.h", '#include "backends/null/null.h"\n'
                                                        '#include "backends/mine/mine.h"\n')

    def test_record_is_below_measure(self) -> None:
        self.expect("bench/record/more.h", '#include "bench/measure/sampler.h"\n',
                    "bench/record must not use bench/measure/sampler.h")

    def test_report_reads_records_alone(self) -> None:
        self.expect("bench/report/more.h", '#include "bench/measure/clock.h"\n',
                    "bench/report must not use bench/measure/clock.h")

    def test_floor_may_not_use_tests(self) -> None:
        self.expect("ops/ir/more.h", '#include "tests/support/close.h"\n', "only tests use tests")

    def test_folder_without_a_row(self) -> None:
        self.expect("ops/extra/more.h", '#include "ops/base/check.h"\n',
                    "ops/extra is in no row of tests/layers/rules.py")

    def test_relative_include(self) -> None:
        self.expect("ops/ir/more.h", '#include "types.h"\n', "must be a path from the root")

    def test_include_by_variable(self) -> None:
        self.expect("ops/ir/more.h", "#include STEPSCOPE_FILE\n", "must name its file")

    def test_own_header_first(self) -> None:
        self.expect("ops/base/error.cpp", "#include <cmath>  ", 'the first include must be',
                    '"ops/base/error.h"', on_top=True)

    def test_source_that_no_list_names(self) -> None:
        self.expect("ops/ir/forgotten.cpp", "\n", "no CMakeLists.txt names this file")

    def test_system_headers_are_free(self) -> None:
        self.expect_nothing("ops/base/more.h", "#include <vector>\n#include <unistd.h>\n"
                                               "#include <sys/mman.h>\n")


class Table(unittest.TestCase):
    def test_rows_name_rows_above_them(self) -> None:
        self.assertEqual(list(layers.check_rules()), [])
        for row, names in (("ops/base", "ops/ir"), ("graph/plan", "graph/passes"),
                           ("backends/api", "backends/cpu"), ("ops/models", "backends")):
            with mock.patch.dict(rules.FOLDERS, {row: names}):
                messages = [finding.message for finding in layers.check_rules()]
                self.assertEqual(messages, [f"{row} names {names}, no row above it"])


class Libraries(Planted):
    """Each library outside its folder, once by header and once by link."""

    def test_header_of_each_library(self) -> None:
        for header, name in (("Eigen/Core", "Eigen"), ("dnnl.hpp", "oneDNN"), ("zlib.h", "zlib"),
                             ("cuda_runtime.h", "CUDA"), ("cublasLt.h", "CUDA"),
                             ("CLI/CLI.hpp", "CLI11"), ("nlohmann/json.hpp", "nlohmann-json"),
                             ("benchmark/benchmark.h", "Google Benchmark"),
                             ("gtest/gtest.h", "GoogleTest")):
            with self.subTest(header=header):
                self.expect(f"backends/api/{Path(header).stem}_user.h", f"#include <{header}>\n",
                            f"{name} ({header}) stays in")

    def test_header_in_its_folder(self) -> None:
        self.expect_nothing("backends/eigen/more.h", "#include <Eigen/Core>\n")
        self.expect_nothing("bench/cli/more.h", "#include <CLI/CLI.hpp>\n#include <fmt/format.h>\n")

    def test_unknown_library(self) -> None:
        self.expect("bench/cli/more.h", "#include <boost/any.hpp>\n",
                    "boost/any.hpp belongs to no library")

    def test_link_of_a_library(self) -> None:
        self.expect("graph/plan/CMakeLists.txt",
                    "target_link_libraries(stepscope_plan PRIVATE Eigen3::Eigen)\n",
                    "stepscope_plan: Eigen (Eigen3::Eigen) stays in backends/eigen")

    def test_package_outside_its_folder(self) -> None:
        self.expect("bench/measure/CMakeLists.txt", "find_package(ZLIB REQUIRED)\n",
                    "find_package: zlib (ZLIB) stays in bench/data")


class Links(Planted):
    def test_link_up_a_floor(self) -> None:
        self.expect("ops/base/CMakeLists.txt",
                    "target_link_libraries(stepscope_base PUBLIC\n  stepscope::ir)\n",
                    "stepscope_base: ops/base must not use ops/ir")

    def test_link_up_by_the_plain_name(self) -> None:
        self.expect("ops/ir/CMakeLists.txt",
                    "target_link_libraries(stepscope_ir stepscope_plan)\n",
                    "stepscope_ir: ops must not use graph/plan")

    def test_link_up_from_another_folder(self) -> None:
        self.expect("bench/CMakeLists.txt",
                    "target_link_libraries(stepscope_base PUBLIC stepscope::models)\n",
                    "stepscope_base: ops/base must not use ops/models")

    def test_library_with_a_link_up(self) -> None:
        self.expect("graph/timeline/CMakeLists.txt",
                    "stepscope_library(timeline\n  SOURCES a.cpp  # a remark (here)\n"
                    "  LINKS stepscope::plan stepscope::execution)\n",
                    "stepscope_timeline: graph must not use backends/execution")

    def test_link_in_a_comment_is_none(self) -> None:
        self.expect_nothing("ops/base/CMakeLists.txt",
                            "# target_link_libraries(stepscope_base stepscope::plan)\n")

    def test_link_by_variable(self) -> None:
        self.expect("ops/ir/CMakeLists.txt",
                    "target_link_libraries(stepscope_ir PUBLIC ${MORE})\n",
                    "must name its target")

    def test_link_that_nobody_makes(self) -> None:
        self.expect("ops/ir/CMakeLists.txt",
                    "target_link_libraries(stepscope_ir PUBLIC stepscope::typo)\n",
                    "which no folder of the floors makes")


class Headers(Planted):
    """Nothing but what is planted: a whole tree would take a minute to compile."""

    @classmethod
    def furnish(cls) -> None:
        pass

    @classmethod
    def find(cls) -> list:
        return headers.findings(cls.root, COMPILER, [])

    def test_header_that_needs_another(self) -> None:
        self.plant("ops/base/good.h", "#include <string>\nstd::string good();\n")
        self.expect("graph/plan/needy.h", "std::string needy();\n", "does not compile alone")

    def test_twin_is_left_to_the_build(self) -> None:
        self.plant("ops/base/twin.cpp", "")
        self.expect_nothing("ops/base/twin.h", "std::string twin();\n")


class Sources(Planted):
    """The text rules look at tracked files, so the copy is a repository."""

    @classmethod
    def git(cls, *words: str) -> None:
        subprocess.run(["git", "-C", str(cls.root), *words], check=True, capture_output=True)

    @classmethod
    def furnish(cls) -> None:
        super().furnish()
        cls.git("init", "--quiet")

    @classmethod
    def find(cls) -> list:
        cls.git("add", "--all")
        return sources.findings(cls.root)

    def test_too_long(self) -> None:
        top = "// A long file.\n// SPDX-License-Identifier: Apache-2.0\n"
        self.expect("ops/base/long.h", top + "\n" * 499, "501 lines, the limit is 500")

    def test_no_first_line(self) -> None:
        self.expect("ops/base/bare.h", "#pragma once\n// SPDX-License-Identifier: Apache-2.0\n",
                    "must say what the file is for")

    def test_no_licence(self) -> None:
        self.expect("ops/base/bare.h", "// A file.\n#pragma once\n", "SPDX-License-Identifier")
        self.expect("ops/base/flow.h", "// A file. SPDX-License-Identifier: Apache-2.0\n",
                    "no line `// SPDX-License-Identifier: Apache-2.0`")

    def test_leftover(self) -> None:
        self.expect("ops/base/check.h", "// TO" + "DO: more\n", "leftover")

    def test_path_of_a_machine(self) -> None:
        self.expect("ops/base/CMakeLists.txt", 'set(DATA "/ho' + 'me/me/data")\n',
                    "is a path of one machine")

    def test_question_which_cuda_build_it_is(self) -> None:
        question = "#if" + "def __CUDA" + "CC__\n#endif\n"
        self.expect("backends/cuda/sim/work.h", question, "__CUDA" + "CC__ stays in "
                    "backends/cuda/device_compat.cuh")
        self.expect("tests/backends/cuda/kernels/sum.cu", "// A file.\n// SPDX-License-Identifier: "
                    "Apache-2.0\n#if __CUDA_AR" + "CH__ >= 700\n#endif\n", "__CUDA_AR" + "CH__ stays")
        self.expect_nothing("backends/cuda/device_compat.cuh", question)


if __name__ == "__main__":
    unittest.main()
