"""Pages that are walks: their blocks, applied to a copy of the tree, must build and pass.

A block says where it goes: an HTML comment in front of the fence,
  <!-- block: file="F" before|after="TEXT" -->          its lines stand before or behind that line
  <!-- block: file="F" replaces="TEXT" until="TEXT" -->  they stand for the lines from one to the other
  <!-- run: "FOLDER" becomes "FOLDER" -->                a shell script that makes the second folder
All walks share one copy and one build, with the blocks of all pages in it, so that one of them costs
little behind the other.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = ("adding-an-op.md", "adding-a-backend.md")
BLOCK = re.compile(
    r'<!-- block: file="(?P<file>[^"]+)" '
    r'(?:(?P<where>before|after)="(?P<anchor>[^"]+)"|replaces="(?P<first>[^"]+)" until="(?P<end>[^"]+)") -->\n'
    r"```(?P<language>\w+)\n(?P<code>.*?)```\n",
    re.DOTALL,
)
SCRIPT = re.compile(
    r'<!-- run: "(?P<given>[^"]+)" becomes "(?P<made>[^"]+)" -->\n```sh\n(?P<code>.*?)```\n', re.DOTALL
)
COPIED = ("CMakeLists.txt", "ops", "graph", "backends", "tests")  # what the pages are about
TARGET = "conformance_test"


class Page:
    def __init__(self, source: Path, name: str):
        text = (source / "docs" / name).read_text()
        self.blocks = [match.groupdict() for match in BLOCK.finditer(text)]
        self.scripts = [match.groupdict() for match in SCRIPT.finditer(text)]
        fences = len(re.findall(r"^```(?:cpp|cmake)$", text, re.MULTILINE))
        if fences != len(self.blocks):
            sys.exit(f"{name}: {fences} blocks of code, {len(self.blocks)} say where they go")


def line_of(text: str, anchor: str, file: str) -> int:
    """Where the only line with the anchor begins."""
    if text.count(anchor) != 1:
        sys.exit(f'{file}: "{anchor}" stands there {text.count(anchor)} times, not once')
    return text.rfind("\n", 0, text.index(anchor)) + 1


def apply(text: str, block: dict) -> str:
    if block["first"]:
        begin, end = (line_of(text, block[key], block["file"]) for key in ("first", "end"))
        return text[:begin] + block["code"] + text[end:]
    at = line_of(text, block["anchor"], block["file"])
    if block["where"] == "after":
        at = text.index("\n", at) + 1
    return text[:at] + block["code"] + text[at:]


class Tree:
    """A copy of the sources. Files that do not change keep their time stamps, so that only what
    depends on a change is built again, within a walk and from one to the next."""

    def __init__(self, arguments):
        self.source, self.jobs = arguments.source, arguments.jobs
        self.root, self.build = arguments.work / "tree", arguments.work / "build"
        self.pages = {name: Page(self.source, name) for name in PAGES}
        self.plain = {}  # path -> bytes, as in the source and behind the scripts of the pages
        for top in COPIED:
            found = self.source / top
            for file in [found] if found.is_file() else sorted(found.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    self.plain[str(file.relative_to(self.source))] = file.read_bytes()
        for page in self.pages.values():
            for script in page.scripts:
                self.run_script(script)

    def run_script(self, script: dict):
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / script["given"]
            given.parent.mkdir(parents=True)
            shutil.copytree(self.source / script["given"], given)
            subprocess.run(["sh", "-e", "-c", script["code"]], cwd=folder, check=True)
            for file in (Path(folder) / script["made"]).rglob("*"):
                self.plain[str(file.relative_to(folder))] = file.read_bytes()

    def apply(self, left_out: dict = None, change=None):
        """All blocks of all pages but one; `change` is (file, text, other text) on top."""
        wanted = dict(self.plain)
        for page in self.pages.values():
            for block in page.blocks:
                if block is not left_out:
                    text = wanted[block["file"]].decode()
                    wanted[block["file"]] = apply(text, block).encode()
        if change:
            file, old, new = change
            text = wanted[file].decode()
            if text.count(old) != 1:
                sys.exit(f'{file}: "{old}" stands there {text.count(old)} times, not once')
            wanted[file] = text.replace(old, new).encode()
        for path in self.root.rglob("*") if self.root.exists() else ():
            if path.is_file() and str(path.relative_to(self.root)) not in wanted:
                path.unlink()
        for name, content in wanted.items():
            file = self.root / name
            if not file.exists() or file.read_bytes() != content:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)

    def configure(self):
        command = ["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0 -g0", "-DSTEPSCOPE_EIGEN=OFF",
                   "-DSTEPSCOPE_ONEDNN=OFF", "-DSTEPSCOPE_CUDA=OFF", "-DSTEPSCOPE_BENCH=OFF"]
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def make(self, cases: str):
        """Builds and runs the cases that fit. Returns (worked, what was said)."""
        if not (self.build / "build.ninja").exists():
            self.configure()
        built = subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", TARGET],
                               capture_output=True, text=True)
        if built.returncode != 0:
            return False, built.stdout + built.stderr
        ran = subprocess.run([self.build / "bin" / TARGET, f"--gtest_filter={cases}"],
                             capture_output=True, text=True)
        passed = re.search(r"\[  PASSED  \] (\d+) test", ran.stdout)
        enough = passed is not None and int(passed.group(1)) > 0
        return ran.returncode == 0 and enough, ran.stdout + ran.stderr

    def compiles(self, code: str, instead: dict):
        """Whether code does, with other contents of some files. Returns (whether, what was said)."""
        cache = (self.build / "CMakeCache.txt").read_text()
        compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in instead.items():
                file = Path(folder) / name
                file.parent.mkdir(parents=True)
                file.write_text(text)
            done = subprocess.run(
                [compiler, "-std=c++20", "-fsyntax-only", "-I", folder, "-I", self.root, "-x", "c++", "-"],
                input=code, capture_output=True, text=True)
        return done.returncode == 0, done.stderr


class Walk:
    """Expectations of one page, told as they are met, and the exit status."""

    def __init__(self, description: str):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--source", type=Path, required=True)
        parser.add_argument("--work", type=Path, required=True)
        parser.add_argument("--jobs", type=int, default=2)
        self.tree = Tree(parser.parse_args())
        self.failures = []

    def works(self, what: str, result):
        worked, said = result
        print(f"{what}: {'works' if worked else 'FAILED'}", flush=True)
        if not worked:
            self.failures.append(f"{what}: does not build or does not pass\n" + said[-4000:])

    def fails(self, what: str, result, naming: str):
        worked, said = result
        named = naming in said
        print(f"{what}: {'WORKED' if worked else 'fails, as it should' if named else 'NOT NAMED'}", flush=True)
        if worked or not named:
            self.failures.append(f"{what}: no failure that names {naming}\n" + said[-2000:])

    def end(self):
        self.tree.apply()  # as the next walk expects it
        sys.exit("\n".join(self.failures) if self.failures else 0)
