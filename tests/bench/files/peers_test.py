"""Tensor files against the programs they come from and go to: NumPy, and the safetensors package.

peers_test.py numpy|safetensors TENSOR_COPY: reads through it what they wrote, and lets them read what
it wrote; bits must be equal. Exits with 77, saying why, where the package is missing; safetensors'
tests need NumPy as well. The environment variable STEPSCOPE_PEERS_PYTHON names a Python that has both.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77

wanted = os.environ.pop("STEPSCOPE_PEERS_PYTHON", "")
if wanted:
    os.execv(wanted, [wanted, *sys.argv])
PEER = sys.argv.pop(1)
try:
    import numpy as np
    if PEER == "safetensors":
        import safetensors
        import safetensors.numpy
except ImportError as missing:
    print(f"skipped: {missing}; STEPSCOPE_PEERS_PYTHON may name a Python that has it")
    sys.exit(SKIPPED)

TENSOR_COPY = sys.argv.pop(1)
TYPES = ("<f4", "<f8", "<i4", "<i8", "|u1")
SHAPES = ((), (1,), (5,), (0, 3), (2, 3, 4), (1, 1, 1, 1, 7))


def random_array(random, shape, dtype):
    """Any bits at all, NaN and negative zero among them."""
    elements = int(np.prod(shape, dtype=np.int64))
    raw = random.bytes(elements * np.dtype(dtype).itemsize)
    return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="stepscope-peers-")
        self.path = Path(self.folder.name)
        self.random = np.random.default_rng(1)

    def tearDown(self):
        self.folder.cleanup()

    def copy(self, source, target):
        subprocess.run([TENSOR_COPY, self.path / source, self.path / target], check=True)
        return self.path / target

    def refusal(self, source):
        done = subprocess.run([TENSOR_COPY, self.path / source, self.path / "out.npy"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def assert_same(self, found, expected):
        self.assertEqual(found.dtype, expected.dtype)
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.tobytes(), expected.tobytes())

    def arrays(self):
        return {f"{dtype[1:]}/{'x'.join(map(str, shape))}": random_array(self.random, shape, dtype)
                for dtype in TYPES for shape in SHAPES}


class Numpy(Files):
    def test_npy_both_ways(self):
        for name, array in self.arrays().items():
            for version in ((1, 0), (2, 0), (3, 0)):
                with self.subTest(name, version=version):
                    with open(self.path / "in.npy", "wb") as file:
                        np.lib.format.write_array(file, array, version=version)
                    self.assert_same(np.load(self.copy("in.npy", "out.npy")), array)

    def test_npy_elements_are_aligned(self):
        for array in self.arrays().values():
            np.save(self.path / "in.npy", array)
            copy = self.copy("in.npy", "out.npy")
            loaded = np.load(copy, allow_pickle=False)
            self.assertEqual(loaded.flags.c_contiguous, True)
            self.assertEqual(copy.stat().st_size % 64, array.nbytes % 64)

    def test_refused_by_name(self):
        cases = {
            "Fortran order": np.asfortranarray(np.ones((2, 3), "<f4")),
            "big-endian": np.ones(3, ">f4"),
            "Python objects": np.array([None, {}], dtype=object),
            "structured": np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]),
            "'<c8' is not supported": np.ones(2, "<c8"),
        }
        for said, array in cases.items():
            with self.subTest(said):
                np.save(self.path / "in.npy", array)
                self.assertIn(said, self.refusal("in.npy"))


class Safetensors(Files):
    def test_npz_in_safetensors_out(self):
        arrays = self.arrays()
        for save in (np.savez, np.savez_compressed):
            with self.subTest(save.__name__):
                save(self.path / "in.npz", **arrays)
                found = safetensors.numpy.load_file(self.copy("in.npz", "out.safetensors"))
                self.assertEqual(found.keys(), arrays.keys())
                for name, array in arrays.items():
                    self.assert_same(found[name], array)

    def test_safetensors_both_ways(self):
        arrays = self.arrays()
        arrays["half"] = random_array(self.random, (3, 5), "<f2")
        metadata = {"format": "np", "note": "ä \"quoted\"\n"}
        safetensors.numpy.save_file(arrays, self.path / "in.safetensors", metadata)
        copy = self.copy("in.safetensors", "out.safetensors")
        found = safetensors.numpy.load_file(copy)
        self.assertEqual(found.keys(), arrays.keys())
        for name, array in arrays.items():
            self.assert_same(found[name], array)
        with safetensors.safe_open(copy, framework="np") as file:
            self.assertEqual(file.metadata(), metadata)


if __name__ == "__main__":
    unittest.main(defaultTest="Numpy" if PEER == "numpy" else "Safetensors")
