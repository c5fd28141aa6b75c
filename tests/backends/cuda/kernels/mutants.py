#!/usr/bin/env python3
"""Plants one mistake at a time in a kernel, and sees that the builds catch it that must.

Each mutant is a copy of the kernel's file with one text replaced, compiled and linked as the kernel
was, for each build of the simulator. A build catches it when the kernel's own test then fails. Fails
if a mutant is missed by a build that must catch it, or if a test fails without a mutant.

Usage: mutants.py SETUP.json SCRATCH [NAME ...]   (SETUP.json is written by CMake; names select)
"""
# SPDX-License-Identifier: Apache-2.0
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

BUILDS = ("release", "asan", "tsan")
ALL = BUILDS
BARRIER = "  __syncthreads();\n"


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # found exactly once
    new: str
    caught_by: tuple[str, ...]  # at least
    kernel: str = ""  # where `file` is a header of the folder: the kernel that is compiled with it

    def compiled(self) -> str:
        return self.kernel or self.file


MUTANTS = (
    # Barriers.
    Mutant("sum-first-barrier", "sum.cu", "  part[self] = mine;\n" + BARRIER,
           "  part[self] = mine;\n", ALL),
    Mutant("sum-loop-barrier", "sum.cu", "    }\n  " + BARRIER, "    }\n", ALL),
    Mutant("sum-warp-barrier", "sum.cu", "    __syncwarp();\n    part[self] += other;\n",
           "    part[self] += other;\n", ALL),
    Mutant("transpose-barrier", "transpose.cu", BARRIER, "", ALL),
    Mutant("scan-barrier", "scan.cu", BARRIER + "  for (int other", "  for (int other", ALL),
    Mutant("histogram-cleared-barrier", "histogram.cu", BARRIER + "  for (unsigned i ",
           "  for (unsigned i ", ALL),
    Mutant("histogram-counted-barrier", "histogram.cu",
           "1u);\n  }\n" + BARRIER, "1u);\n  }\n", ALL),
    Mutant("column-sums-barrier", "column_sums.cu", BARRIER, "", ALL),
    Mutant("box-filter-barrier", "box_filter.cu", BARRIER, "", ALL),
    Mutant("column-sums-divergent-barrier", "column_sums.cu", BARRIER,
           "  if (threadIdx.y == 0) {\n  " + BARRIER + "  } else {\n  " + BARRIER + "  }\n", ALL),
    # Atomics: right by luck where threads run one after the other.
    Mutant("histogram-shared-atomic", "histogram.cu", "atomicAdd(&local[in[i]], 1u)",
           "local[in[i]] += 1u", ("tsan",)),
    Mutant("histogram-device-atomic", "histogram.cu", "atomicAdd(&counts[bin], local[bin])",
           "counts[bin] += local[bin]", ("tsan",)),
    # Bounds, guards, strides, indices.
    Mutant("softmax-loop-bound", "softmax_xent.cu",
           "column < columns; column += kWarp) {\n    most",
           "column <= columns; column += kWarp) {\n    most", ("asan",)),
    Mutant("softmax-row-guard", "softmax_xent.cu", "if (row >= rows)", "if (row > rows)",
           ("asan",)),
    Mutant("transpose-guard", "transpose.cu", "if (top + y < rows && left + x < columns)",
           "if (top + y < rows)", ("asan",)),
    Mutant("transpose-stride", "transpose.cu", "(top + y) * columns + left",
           "(top + y) * (columns + 1) + left", ("release", "asan")),
    Mutant("sum-shared-index", "sum.cu", "part[self] += part[self + half];",
           "part[self] += part[self + half + 1];", ("release", "asan")),
    Mutant("sgd-rest-bound", "sgd.cu", "last < n && i < 4", "last <= n && i < 4", ("asan",)),
    Mutant("sgd-misaligned", "sgd.cu", "reinterpret_cast<const float4*>(gradient)[i]",
           "reinterpret_cast<const float4*>(gradient + 1)[i]", ("release", "asan")),
    Mutant("box-filter-loop-bound", "box_filter.cu", "k <= 2 * radius", "k < 2 * radius", ALL),
    Mutant("box-filter-shared-bytes", "box_filter.cu", "(kThreads + 2 * radius)",
           "(kThreads + 2 * radius - 1)", ("asan",)),
    # Warps.
    Mutant("softmax-mask", "softmax_xent.cu", "kAll = 0xffffffffu", "kAll = 0x7fffffffu", ALL),
    Mutant("softmax-shuffle-distance", "softmax_xent.cu",
           "for (unsigned lanes = kWarp / 2; lanes > 0;",
           "for (unsigned lanes = kWarp / 2; lanes > 1;", ALL),
    Mutant("scan-shuffle-lane", "scan.cu", "if (lane >= distance)", "if (lane > distance)", ALL),
    Mutant("scan-partial-mask", "scan.cu", "__shfl_up_sync(0xffffffffu, value,",
           "__shfl_up_sync(1u << lane, value,", ALL),
)

# The case of kernels_test.cpp that runs the file's kernels.
CASES = {"box_filter.cu": "Kernels.BoxFilter", "column_sums.cu": "Kernels.ColumnSums",
         "histogram.cu": "Kernels.Histogram", "scan.cu": "Kernels.InclusiveScan*",
         "sgd.cu": "Kernels.Sgd", "softmax_xent.cu": "Kernels.SoftmaxXent",
         "sum.cu": "Kernels.Sum", "transpose.cu": "Kernels.Transpose"}


# What a finding looks like: of a sanitizer, of gtest, of the simulator. A program that ends otherwise,
# killed or because ThreadSanitizer found no room for its shadow, has caught nothing.
CAUGHT = re.compile(r"WARNING: ThreadSanitizer: |ERROR: AddressSanitizer: |: runtime error: |"
                    r"^\[  FAILED  \] |^stepscope cudasim: ", re.MULTILINE)


class Broken(Exception):
    """What must work does not: a compiler, a link, a mutant that no longer applies."""


def run(command: list[str], where: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=300,
                          check=False, env={**os.environ, **environment})


def must(command: list[str], where: str, what: str) -> None:
    result = run(command, where)
    if result.returncode != 0:
        raise Broken(f"{what}:\n{shlex.join(command)}\n{result.stdout}{result.stderr}")


def plant(mutant: Mutant, folder: Path) -> str:
    text = (folder / mutant.file).read_text()
    if text.count(mutant.old) != 1:
        raise Broken(f"{mutant.name}: its text is {text.count(mutant.old)} times in {mutant.file}, "
                     "not once: the kernel has changed, change mutants.py with it")
    return text.replace(mutant.old, mutant.new)


def compile_command(setup: dict, build: str, file: str, source: Path, output: Path) -> tuple:
    """As the build compiles that kernel, but from `source` to `output`."""
    target = setup["builds"][build]["objects_of"]
    for entry in setup["commands"]:
        if entry["file"] == f"{setup['folder']}/{file}" and f"/{target}.dir/" in entry["command"]:
            words = shlex.split(entry["command"])
            words[words.index(entry["file"])] = str(source)
            words[words.index("-o") + 1] = str(output)
            # What the build knows of dependencies must stay as it is.
            for option in ("-MF", "-MT"):
                if option in words:
                    words[words.index(option) + 1] = f"{output}.d"
            return words, entry["directory"]
    raise Broken(f"no compile command of {file} for {target}")


def test(program: Path, file: str, where: Path) -> tuple[bool, str]:
    result = run([str(program), f"--gtest_filter={CASES[file]}", "--gtest_brief=1"],
                 str(where), TSAN_OPTIONS="halt_on_error=1", ASAN_OPTIONS="detect_leaks=0")
    if result.returncode == 0 and not re.search(r"PASSED  \] [1-9]", result.stdout):
        raise Broken(f"{program} ran no case of {file}:\n{result.stdout}")
    said = result.stdout + result.stderr
    if result.returncode != 0 and not CAUGHT.search(said):
        raise Broken(f"{program} ended with status {result.returncode}, and nothing that it said is a "
                     f"finding:\n{said}")
    return result.returncode == 0, said


def judge(setup: dict, mutant: Mutant, build: str, scratch: Path) -> tuple[bool, str]:
    """Whether the build catches the mutant, and what it said."""
    stem = scratch / f"{mutant.name}.{build}"
    output = stem.with_suffix(f".{build}.o")
    planted = plant(mutant, Path(setup["folder"]))
    if mutant.kernel:
        source = Path(setup["folder"]) / mutant.kernel
        # In front of the folder of the includes, and under the name by which they are included.
        first = stem.with_suffix(f".{build}.include")
        header = first / source.relative_to(setup["root"]).parent / mutant.file
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(planted)
        command, where = compile_command(setup, build, mutant.kernel, source, output)
        command += ["-iquote", str(first)]
    else:
        source = stem.with_suffix(f".{build}.cu")
        source.write_text(planted)
        command, where = compile_command(setup, build, mutant.file, source, output)
    must(command, where, f"{mutant.name} does not compile for {build}")
    facts = setup["builds"][build]
    others = [name for name in facts["objects"] if not name.endswith(f"/{mutant.compiled()}.o")]
    if len(others) + 1 != len(facts["objects"]):
        raise Broken(f"{build}: {mutant.compiled()}.o is not one of its objects")
    link = [setup["compiler"], *shlex.split(setup["flags"]), *facts["options"], *others,
            str(output), *facts["libraries"], "-o", str(stem)]
    must(link, facts["directory"], f"{mutant.name} does not link for {build}")
    passed, said = test(stem, mutant.compiled(), scratch)
    for leftover in (output, stem):
        leftover.unlink()
    return not passed, said


def first_line(said: str) -> str:
    """What a reader needs to believe that it was caught for the right reason."""
    for mark in ("WARNING: ThreadSanitizer", "ERROR: AddressSanitizer", "runtime error", "Failure"):
        for line in said.splitlines():
            if mark in line:
                return line.strip()
    return said.strip().splitlines()[-1] if said.strip() else ""


def main() -> int:
    setup = json.loads(Path(sys.argv[1]).read_text())
    setup["commands"] = json.loads(Path(setup["compile_commands"]).read_text())
    scratch = Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    chosen = [mutant for mutant in MUTANTS if not sys.argv[3:] or mutant.name in sys.argv[3:]]
    bad = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = sorted({mutant.compiled() for mutant in chosen})
        whole = {(file, build): pool.submit(test, Path(setup["builds"][build]["program"]), file,
                                            scratch) for file in files for build in BUILDS}
        results = {(mutant.name, build): pool.submit(judge, setup, mutant, build, scratch)
                   for mutant in chosen for build in BUILDS}
        for (file, build), result in whole.items():
            if not result.result()[0]:
                bad.append(f"{file} fails in {build} without a mutant:\n{result.result()[1]}")
        print(f"{'mutant':32}" + "".join(f"{build:>9}" for build in BUILDS))
        for mutant in chosen:
            caught = {build: results[mutant.name, build].result() for build in BUILDS}
            print(f"{mutant.name:32}" + "".join(
                f"{'caught' if caught[build][0] else 'missed':>9}" for build in BUILDS), flush=True)
            for build in BUILDS:
                if caught[build][0]:
                    print(f"    {build}: {first_line(caught[build][1])}")
                if build in mutant.caught_by and not caught[build][0]:
                    bad.append(f"{mutant.name} is missed by {build}, which must catch it")
    print(f"mutants: {len(chosen)} planted, {len(bad)} findings")
    for finding in bad:
        print(finding)
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as broken:
        sys.exit(f"mutants: {broken}")
