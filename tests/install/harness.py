"""What the tests of an installation share: their arguments, an installed and moved prefix, commands."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

options = argparse.Namespace()


def main() -> None:
    """Reads the arguments that ctest gives, runs the tests of the calling module."""
    parser = argparse.ArgumentParser()
    for name in ("--source", "--build"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--version", required=True)
    _, rest = parser.parse_known_args(namespace=options)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)


def run(*command: object, status: int | None = 0, **how) -> subprocess.CompletedProcess:
    """The finished process; fails with all it said when it ended with another status."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, **how)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: status {done.returncode}, expected "
                             f"{status}\n{done.stdout}{done.stderr}"[-8000:])
    return done


class Scratch:
    """A folder that goes away at the end, and a prefix in it: installed in one place, then moved."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="stepscope-install-"))
        first = self.folder / "installed"
        run(options.cmake, "--install", options.build, "--prefix", first)
        self.prefix = self.folder / "moved here"
        first.rename(self.prefix)

    def remove(self) -> None:
        shutil.rmtree(self.folder)
