#!/usr/bin/env python3
"""Writes the seed corpus of the fuzzing targets: small valid files of each kind, and broken ones.

Usage: make_corpus.py [FOLDER]      (tests/fuzz/corpus by default)

Each file is made from the format's description by the standard library alone, never by our own
writers. Equal runs write equal bytes. Files that fuzzing found lie beside them, named found-*; they
stay.
"""
# SPDX-License-Identifier: Apache-2.0
import gzip
import io
import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path


def idx(magic: int, dims: list[int], content: bytes) -> bytes:
    return struct.pack(f">{1 + len(dims)}I", magic, *dims) + content


def gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def gz_bomb(content_bytes: int) -> bytes:
    """One member of nothing but zeros: a thousandth of what it inflates to."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(bytes(content_bytes)) + packer.flush()


IMAGES = idx(0x803, [2, 3, 2], bytes(range(12)))
LABELS = idx(0x801, [5], bytes([0, 1, 2, 9, 4]))


def idx_files() -> dict[str, bytes]:
    return {
        "images.idx": IMAGES,
        "labels.idx": LABELS,
        "images.gz": gz(IMAGES),
        "labels.gz": gz(LABELS),
        "empty.idx": b"",
        "header-cut.idx": IMAGES[:7],
        "short.idx": IMAGES[:-1],
        "long.idx": IMAGES + b"\0",
        "zero-rows.idx": idx(0x803, [2, 0, 2], b""),
        "floats.idx": idx(0xD03, [1, 1, 1], bytes(4)),
        "terabytes.idx": idx(0x803, [0xFFFFFFFF] * 3, b"x"),
        "terabytes.gz": gz(idx(0x801, [0xFFFFFFFF], b"x")),
        "bomb.gz": gz_bomb(1 << 19),
    }


def gzip_files() -> dict[str, bytes]:
    two = gz(b"first") + gz(b"second")
    named = bytearray(gz(b"named"))
    named[3] = 8  # FNAME
    named[10:10] = b"a.bin\0"
    return {
        "plain.bin": b"not gzip at all",
        "one.gz": gz(b"hello, hello, hello"),
        "two-members.gz": two,
        "named.gz": bytes(named),
        "empty.gz": gz(b""),
        "cut.gz": gz(b"hello, hello, hello")[:-5],
        "bad-crc.gz": gz(b"hello")[:-8] + bytes(8),
        "trailing.gz": gz(b"hello") + b"x",
        "stored.gz": gzip.compress(b"as it is", compresslevel=0, mtime=0),
        "bomb.gz": gz_bomb(1 << 20)[:1024],
        "magic-only.gz": b"\x1f\x8b",
    }


def npy(descr: str, shape: str, content: bytes, version: tuple[int, int] = (1, 0),
        order: str = "False") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    size = 2 if version == (1, 0) else 4
    header += " " * (-(6 + 2 + size + len(header) + 1) % 64) + "\n"
    length = struct.pack("<H" if size == 2 else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header.encode() + content


FLOATS = struct.pack("<6f", 0, 1, -2.5, 1e9, float("inf"), float("nan"))


def npy_files() -> dict[str, bytes]:
    return {
        "f4.npy": npy("<f4", "(2, 3)", FLOATS),
        "f8.npy": npy("<f8", "(3,)", struct.pack("<3d", 1, 2, 3)),
        "i4.npy": npy("<i4", "(2,)", struct.pack("<2i", -1, 7)),
        "i8.npy": npy("<i8", "(1, 1, 2)", struct.pack("<2q", -(1 << 60), 7)),
        "u1.npy": npy("|u1", "(4,)", b"\0\1\xfe\xff"),
        "scalar.npy": npy("<f4", "()", FLOATS[:4]),
        "empty.npy": npy("<f4", "(0, 3)", b""),
        "version-2.npy": npy("<f4", "(6,)", FLOATS, (2, 0)),
        "version-3.npy": npy("<f4", "(6,)", FLOATS, (3, 0)),
        "version-9.npy": npy("<f4", "(6,)", FLOATS, (9, 0)),
        "objects.npy": npy("|O", "(1,)", b"cos\nsystem\n"),
        "big-endian.npy": npy(">f4", "(6,)", FLOATS),
        "fortran.npy": npy("<f4", "(2, 3)", FLOATS, order="True"),
        "terabytes.npy": npy("<f8", "(1048576, 1048576)", b""),
        "overflow.npy": npy("<f8", "(4294967296, 4294967296, 2)", b""),
        "negative.npy": npy("<f4", "(-1, 3)", FLOATS),
        "short.npy": npy("<f4", "(7,)", FLOATS),
        "cut.npy": npy("<f4", "(6,)", FLOATS)[:30],
        "many-dimensions.npy": npy("|u1", "(" + "1, " * 60 + ")", b"x"),
    }


def zipped(members: dict[str, bytes], method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, method)
    return out.getvalue()


def npz_files() -> dict[str, bytes]:
    small = {"a.npy": npy("<f4", "(2, 3)", FLOATS), "b.npy": npy("|u1", "(2,)", b"ab")}
    stored = zipped(small, zipfile.ZIP_STORED)
    deflated = zipped(small, zipfile.ZIP_DEFLATED)
    wrong_crc = bytearray(stored)
    wrong_crc[stored.index(b"\x93NUMPY") + 100] ^= 1
    twice = bytearray(zipped({"a.npy": small["a.npy"], "c.npy": small["b.npy"]},
                             zipfile.ZIP_STORED))
    return {
        "stored.npz": stored,
        "deflated.npz": deflated,
        "none.npz": zipped({}, zipfile.ZIP_STORED),
        "path.npz": zipped({"../../a.npy": small["a.npy"]}, zipfile.ZIP_STORED),
        "other-member.npz": zipped({"a.txt": b"hello"}, zipfile.ZIP_DEFLATED),
        "wrong-crc.npz": bytes(wrong_crc),
        "same-name.npz": bytes(twice).replace(b"c.npy", b"a.npy"),
        "cut.npz": stored[:-10],
        "terabytes.npz": zipped({"a.npy": npy("<f8", "(1048576, 1048576)", b"")},
                                zipfile.ZIP_DEFLATED),
        "bomb.npz": zipped({"a.npy": npy("|u1", "(500000,)", bytes(500000))},
                           zipfile.ZIP_DEFLATED),
        "long-size.npz": deflated.replace(struct.pack("<I", len(small["a.npy"])),
                                          b"\xfe\xff\xff\x7f"),
        "huge-offset.npz": stored[:-6] + b"\xff\xff\xff\xff\0\0",
    }


def csv_files() -> dict[str, bytes]:
    return {
        "plain.csv": b"a,b\n1,2\n3,4\n",
        "crlf.csv": b"a,b\r\n1,2\r\n3,4",
        "quotes.csv": b'"a","b ""c""",d\n"1,2","3\n4",5\n',
        "mark.csv": b"\xef\xbb\xbfa,b\n1,2\n",
        "empty-fields.csv": b"a,b,c\n,,\n",
        "header-only.csv": b"a,b\n",
        "empty.csv": b"",
        "short-row.csv": b"a,b\n1\n",
        "twice.csv": b"a,a\n1,2\n",
        "open-quote.csv": b'a,b\n"1,2\n',
        "quote-inside.csv": b'a,b\n1"2,3\n',
        "zero.csv": b"a,b\n1,\0\n",
        "return-alone.csv": b"a,b\r1,2\r",
        "metadata.csv": b"char_cp,split,font_hash\n65,train,ab\n66,val,cd\n",
    }


def safetensors(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files() -> dict[str, bytes]:
    two = {"w": entry("F32", [2, 3], 0, 24), "b": entry("U8", [2], 24, 26)}
    return {
        "two.safetensors": safetensors(two, FLOATS + b"ab"),
        "metadata.safetensors": safetensors({"__metadata__": {"format": "pt"}, **two},
                                            FLOATS + b"ab"),
        "none.safetensors": safetensors({}),
        "scalar.safetensors": safetensors({"s": entry("F64", [], 0, 8)}, bytes(8)),
        "no-elements.safetensors": safetensors({"e": entry("F32", [0, 3], 0, 0)}),
        "halves.safetensors": safetensors({"h": entry("F16", [2], 0, 4),
                                           "g": entry("BF16", [1], 4, 6)}, bytes(6)),
        "padded.safetensors": safetensors(json.dumps(two).encode() + b"   ", FLOATS + b"ab"),
        "escaped.safetensors": safetensors({"\u00e9\n\"": entry("I64", [1], 0, 8)}, bytes(8)),
        "hole.safetensors": safetensors({"w": entry("U8", [1], 1, 2)}, b"ab"),
        "overlap.safetensors": safetensors({"a": entry("U8", [2], 0, 2),
                                            "b": entry("U8", [2], 1, 3)}, b"abc"),
        "outside.safetensors": safetensors({"a": entry("U8", [9], 0, 9)}, b"ab"),
        "terabytes.safetensors": safetensors({"a": entry("F64", [1 << 20, 1 << 20], 0, 1 << 43)}),
        "overflow.safetensors": safetensors({"a": entry("F32", [1 << 32, 1 << 32, 4], 0, 0)}),
        "negative.safetensors": safetensors({"a": entry("F32", [-1], 0, 4)}, bytes(4)),
        "fraction.safetensors": safetensors(
            b'{"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}}', b"x"),
        "twice.safetensors": safetensors(
            b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
            b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
        "deep.safetensors": safetensors(b'{"a":' + b"[" * 400 + b"]" * 400 + b"}"),
        "long-header.safetensors": safetensors({}, length=1 << 62),
        "cut.safetensors": safetensors(two, FLOATS)[:20],
        "not-json.safetensors": safetensors(b'{"a": nope}'),
        "unknown-type.safetensors": safetensors({"a": entry("F8_E5M2", [1], 0, 1)}, b"x"),
    }


MLP = """\
stepscope-ir 1
input x : f32{B, 4}
input labels : i32{B}
parameter w : f32{4, 3} = he(4)
parameter b : f32{3} = uniform(-1/4, 0.5)
h : f32{B, 3} = MatMul(x, w) {transpose_a = false}
y = AddBias(h, b)
loss : f32{}, p : f32{B, 3} = SoftmaxCrossEntropy(y, labels) @ loss
keep loss
"""
CNN = """\
stepscope-ir 1
input x : f32{B, 36}
parameter k : f32{2, 1, 3, 3} = he
parameter c : f32{2} = constant(0.5)
i = x{B, 1, 6, 6}
f = Conv2d(i, k) {pad_h = 1, pad_w = 1}
"""


def ir_files() -> dict[str, bytes]:
    head = "stepscope-ir 1\n"
    x = head + "input x : f32{B, 4}\n"
    texts = {
        "mlp": MLP,
        "cnn": CNN + "g = AddBias(f, c)\nr = Relu(g)\nm, s = MaxPool(r) {size_h = 2, size_w = 2, "
                     "stride_h = 2, stride_w = 2}\nq = m{B, 18}\nkeep q\n",
        "average": CNN + "m = AvgPool(f) {size_h = 2, size_w = 2}\nkeep m\n",
        "update": head + "parameter w : f32{2, 3}\nstate control.lr : f32{}\n"
                         "state control.step : i32{}\ng = Tanh(w)\n"
                         "%1 : f32{2, 3} -> w, %2 : i32{} -> control.step = "
                         "SgdUpdate(w, g, control.lr, control.step) {advance_step = true} "
                         "@ update\n",
        "adam": head + "parameter w : f32{2}\nstate w.m : f32{2}\nstate w.v : f32{2}\n"
                       "state control.lr : f32{}\nstate control.step : i32{}\n"
                       "%0 : f32{2} -> w, %1 : f32{2} -> w.m, %2 : f32{2} -> w.v = "
                       "AdamUpdate(w, w, w.m, w.v, control.lr, control.step) "
                       "{beta1 = 0.9, epsilon = 1e-8} @ update\n",
        "symbols": x + "y = Scale(x) {factor = 1/B/784}\nz = y{2*B, 2}\n"
                       "%7 = Broadcast(z) {size = B}\nkeep %7{8*B*B}\n",
        "indices": head + "input i : i32{B}\nparameter t : f32{9, 3}\nr = Gather(t, i)\n"
                          "s = ScatterAdd(r, i) {rows = 9}\na = Argmax(r)\nkeep a\n",
        "convert": x + "d = Cast(x) {to = f64}\nl = Fill() {type = f32{B, 4}, value = -inf}\n"
                       "m = Mul(x, l)\nn = ReduceSum(m) {axis = 1}\nkeep n\n",
        "file-start": head + 'parameter w : f32{2} = file("a \\"b\\".npz", "fc\\\\1")\n',
        "chain": x + "y = PointwiseChain(x) {count = 1}\n",
        "fused": MLP.replace("h : f32{B, 3} = MatMul(x, w) {transpose_a = false}\ny = AddBias(h, b)",
                             "y = Linear(x, w, b) {activation = relu}"),
        "empty": "",
        "header": head,
        "other-version": "stepscope-ir 2\n",
        "unknown-op": x + "y = Rellu(x)\n",
        "unknown-value": x + "y = Relu(z)\n",
        "wrong-type": x + "y : f32{B, 5} = Relu(x)\n",
        "not-whole": x + "y = x{B/2, 8}\n",
        "overflow": x + "y = x{B*9223372036854775807*2, 4}\n",
        "huge": head + "input x : f32{1048576, 1048576, 1048576}\ny = Relu(x)\n",
        "twice": x + "x = Relu(x)\n",
        "read-after-update": head + "parameter w : f32{2}\nstate r : f32{}\n"
                                    "%0 : f32{2} -> w = SgdUpdate(w, w, r)\ny = Relu(w)\n",
        "crlf": x.replace("\n", "\r\n") + "y = Relu(x)",
        "comments": "stepscope-ir 1 # a\n# b\n\n  input x:f32{B,4} # c\n",
    }
    return {f"{name}.step": text.encode() for name, text in texts.items()}


KINDS = {
    "idx": idx_files,
    "gzip": gzip_files,
    "npy": npy_files,
    "npz": npz_files,
    "csv": csv_files,
    "safetensors": safetensors_files,
    "ir": ir_files,
}


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "corpus"
    for kind, files in KINDS.items():
        folder = root / kind
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files().items():
            (folder / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
