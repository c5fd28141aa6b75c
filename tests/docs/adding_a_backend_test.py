#!/usr/bin/env python3
"""docs/adding-a-backend.md is true: its blocks, applied to a copy of the tree, make a backend that
builds, computes what it says and refuses the rest; with any one block left out, or a mistake planted in
its kernel, the conformance cases or the build say so."""
# SPDX-License-Identifier: Apache-2.0

import re

from walk import Walk

BACKEND = "plain"
KERNEL = f"backends/{BACKEND}/{BACKEND}.cpp"
CASES = f"*{BACKEND}_*"


def main():
    walk = Walk(__doc__)
    tree = walk.tree
    blocks = tree.pages["adding-a-backend.md"].blocks
    assert len(blocks) > 2 and len(tree.pages["adding-a-backend.md"].scripts) == 1

    tree.apply()
    worked, said = tree.make(CASES)
    walk.works(f"all {len(blocks)} blocks", (worked, said))
    passed = [line for line in said.splitlines() if line.startswith("[       OK ]")]
    only_relu = bool(passed) and all(re.search(rf"{BACKEND}_Relu(_|\b)", line) for line in passed)
    walk.works("Relu, and nothing else", (only_relu, said))
    # A skipped case tells why; nothing else computes it in silence.
    walk.works("MatMul refused by name", (f"{BACKEND}: has no kernel for MatMul" in said, said))

    for left_out in blocks:
        tree.apply(left_out)
        named = "0 tests" if left_out["language"] == "cmake" else "error:"
        walk.fails(f"without {left_out['file']}, {left_out['code'].splitlines()[0]}", tree.make(CASES), named)

    # A comparison that a NaN loses: the special values of the cases see it.
    tree.apply(change=(KERNEL, "x[i] <= 0.0F ? 0.0F : x[i]", "x[i] > 0.0F ? x[i] : 0.0F"))
    walk.fails("a NaN that is lost", tree.make(CASES), f"{BACKEND}_Relu")
    walk.end()


if __name__ == "__main__":
    main()
