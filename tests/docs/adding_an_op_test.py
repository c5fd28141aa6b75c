#!/usr/bin/env python3
"""docs/adding-an-op.md is true: its blocks, applied to a copy of the tree, make an op that builds and
passes its conformance cases; with any one block left out, that does not happen and the op is named."""
# SPDX-License-Identifier: Apache-2.0

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(
    r'<!-- block: file="(?P<file>[^"]+)" (?P<where>before|after)="(?P<anchor>[^"]+)" -->\n'
    r"```cpp\n(?P<code>.*?)```\n",
    re.DOTALL,
)
OP = "Square"


class Tree:
    """A copy of the sources, without eigen and the upper floor: what the page is about."""

    def __init__(self, source: Path, work: Path, blocks: list, jobs: int):
        self.source, self.root, self.build, self.jobs = source, work / "tree", work / "build", jobs
        self.files = {block["file"] for block in blocks}
        shutil.rmtree(self.root, ignore_errors=True)
        skipped = shutil.ignore_patterns("build", ".git", ".cache", "results")
        shutil.copytree(source, self.root, ignore=skipped)

    def apply(self, blocks):
        """The files of all blocks as they are in the source, with these blocks in. Files that do not
        change keep their time stamps, so that only what depends on a change is built again."""
        wanted = {name: (self.source / name).read_text() for name in self.files}
        for block in blocks:
            text, anchor = wanted[block["file"]], block["anchor"]
            if text.count(anchor) != 1:
                sys.exit(f'{block["file"]}: "{anchor}" stands there {text.count(anchor)} times, not once')
            at = text.index(anchor)
            if block["where"] == "after":
                at = text.index("\n", at) + 1
            wanted[block["file"]] = text[:at] + block["code"] + text[at:]
        for name, text in wanted.items():
            file = self.root / name
            if file.read_text() != text:
                file.write_text(text)

    def make(self):
        """Builds and runs the cases of the op. Returns (worked, what was said)."""
        if not (self.build / "build.ninja").exists():
            configure = ["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja",
                         "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0 -g0",
                         "-DSTEPSCOPE_EIGEN=OFF", "-DSTEPSCOPE_BENCH=OFF"]
            if shutil.which("ccache"):
                configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
            subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        built = subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", "conformance_test"],
                               capture_output=True, text=True)
        if built.returncode != 0:
            return False, built.stdout + built.stderr
        ran = subprocess.run([self.build / "bin" / "conformance_test", f"--gtest_filter=*{OP}*"],
                             capture_output=True, text=True)
        passed = re.search(r"\[  PASSED  \] (\d+) test", ran.stdout)
        enough = passed is not None and int(passed.group(1)) > 0
        return ran.returncode == 0 and enough, ran.stdout + ran.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    page = (arguments.source / "docs" / "adding-an-op.md").read_text()
    blocks = [match.groupdict() for match in BLOCK.finditer(page)]
    if len(blocks) != page.count("```cpp"):
        sys.exit(f"{page.count('```cpp')} code blocks on the page, {len(blocks)} say where they go")
    tree = Tree(arguments.source, arguments.work, blocks, arguments.jobs)
    failures = []

    # Without its line in the list the op does not exist: the rest builds, and there is nothing to run.
    # Then all of it; then each other block left out, which builds again one file alone.
    the_list = [block for block in blocks if block["file"].endswith("op_list.inc")]
    others = [block for block in blocks if block not in the_list]
    tree.apply(others)
    worked, said = tree.make()
    print(f"without {the_list[0]['file']}: {'WORKED' if worked else 'does not work, as it should'}")
    if worked:
        failures.append("an op without a line in the list has cases")

    tree.apply(blocks)
    worked, said = tree.make()
    print(f"all {len(blocks)} blocks: {'works' if worked else 'FAILED'}")
    if not worked:
        failures.append("the page's op does not build or does not pass:\n" + said[-4000:])

    for left_out in others:
        tree.apply([block for block in blocks if block is not left_out])
        worked, said = tree.make()
        named = OP in said
        print(f"without {left_out['file']}: "
              f"{'WORKED' if worked else 'does not work, as it should' if named else 'NOT NAMED'}")
        if worked or not named:
            failures.append(f"{left_out['file']} left out: no error that names {OP}\n" + said[-2000:])

    shutil.rmtree(arguments.work, ignore_errors=True)
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
