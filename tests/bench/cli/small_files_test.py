"""Files of a kilobyte that promise terabytes, or inflate a thousandfold: the command refuses them in
one line that names the file, ends with status 1 or 2, and takes little memory.

Usage: small_files_test.py STEPSCOPE [NAME_OF_TEST]. The files are those that fuzzing starts from.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fuzz"))
import make_corpus as corpus  # noqa: E402

PROGRAM = ""
MOST_BYTES = 1024        # of a file
MOST_MEMORY_KIB = 300 << 10
TERABYTES = "(1048576, 1048576)"  # of f64: 8 TiB


def run(*words):
    """Exit status, standard error, and the largest resident size in KiB."""
    with tempfile.TemporaryFile() as errors:
        child = os.posix_spawn(PROGRAM, [PROGRAM, *map(str, words)], os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        return os.waitstatus_to_exitcode(status), errors.read().decode(), usage.ru_maxrss


def bomb(head):
    """One gzip member of MOST_BYTES at most: a head, and zeros until it is full."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(head)
    block = bytes(1 << 14)
    while True:
        before = packer.copy()
        longer = packed + packer.compress(block)
        if len(longer + packer.copy().flush()) > MOST_BYTES:
            return packed + before.flush()
        packed = longer


class SmallFiles(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def write(self, name, content):
        self.assertLessEqual(len(content), MOST_BYTES, name)
        path = self.folder / name
        path.write_bytes(content)
        return path

    def refused(self, file, says, *words):
        status, errors, memory = run(*words)
        self.assertIn(status, (1, 2), errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertIn(str(file), errors)
        for each in says:
            self.assertIn(each, errors)
        self.assertLess(memory, MOST_MEMORY_KIB)

    def refused_as_data(self, images, says, name="train-images-idx3-ubyte"):
        for part in ("train", "t10k"):
            self.write(f"{part}-labels-idx1-ubyte", corpus.LABELS)
            self.write(f"{part}-images-idx3-ubyte", corpus.IMAGES)
        wrong = self.write(name, images)
        self.refused(wrong, says, "train", "--model", "mlp:6-4-10", "--epochs", "1", "--backend",
                     "reference", "--data", self.folder)

    def test_idx_that_promises_gigabytes(self):
        self.refused_as_data(corpus.idx(0x803, [1 << 20, 50, 50], b"x"), ["2621440016"])

    def test_idx_that_promises_more_than_there_is(self):
        self.refused_as_data(corpus.idx(0x803, [0xFFFFFFFF] * 3, b"x"), ["4294967295"])

    def test_idx_in_gzip_that_promises_gigabytes(self):
        head = corpus.idx(0x803, [1 << 20, 50, 50], b"x")
        self.refused_as_data(corpus.gz(head), ["2621440016"])

    def test_gzip_bomb(self):
        content = bomb(corpus.idx(0x803, [1 << 20, 50, 50], b""))
        self.assertGreater(len(zlib.decompress(content, 31)), 500 * len(content))
        self.refused_as_data(content, ["2621440016"])

    def test_gzip_bomb_behind_the_last_image(self):
        self.refused_as_data(bomb(corpus.IMAGES), ["28"])

    def refused_as_weights(self, name, content, says):
        wrong = self.write(name, content)
        self.refused(wrong, says, "train", "--model", "mlp:784-4-10", "--epochs", "1", "--backend",
                     "reference", "--data", "generated", "--weights", wrong)

    def test_npz_that_promises_terabytes(self):
        member = corpus.npy("<f8", TERABYTES, b"")
        for method in (corpus.zipfile.ZIP_STORED, corpus.zipfile.ZIP_DEFLATED):
            self.refused_as_weights("w.npz", corpus.zipped({"w1.npy": member}, method), ["w1"])

    def test_npz_bomb(self):
        member = corpus.npy("|u1", "(500000,)", bytes(500000))
        content = corpus.zipped({"w1.npy": member}, corpus.zipfile.ZIP_DEFLATED)
        self.refused_as_weights("w.npz", content, [])

    def test_npz_member_that_lies_about_its_size(self):
        member = corpus.npy("|u1", "(4,)", b"abcd")
        content = corpus.zipped({"w1.npy": member}, corpus.zipfile.ZIP_DEFLATED)
        length = len(member).to_bytes(4, "little")
        self.assertEqual(content.count(length), 2)
        self.refused_as_weights("w.npz", content.replace(length, b"\xfe\xff\xff\x7f"), ["w1"])

    def test_safetensors_that_promise_terabytes(self):
        header = {"w1": corpus.entry("F64", [1 << 20, 1 << 20], 0, 1 << 43)}
        self.refused_as_weights("w.safetensors", corpus.safetensors(header), ["w1"])

    def test_safetensors_header_that_is_longer_than_the_file(self):
        self.refused_as_weights("w.safetensors", corpus.safetensors({}, length=90_000_000),
                                ["90000000"])

    def test_npy_that_promises_terabytes(self):
        self.write("labels.npy", corpus.npy("<i8", "(3,)", bytes(24)))
        self.write("metadata.csv", b"index,split\n0,train\n1,val\n2,test\n")
        images = corpus.npy("<f4", "(1048576, 1, 1024, 1024)", b"")
        wrong = self.write("images.npy", images)
        self.refused(wrong, ["4398046511104"], "train", "--model", "mlp:4-4-3", "--epochs", "1",
                     "--backend", "reference", "--data", self.folder)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
