#!/usr/bin/env python3
"""docs/adding-an-op.md is true: its blocks, applied to a copy of the tree, make an op that builds and
passes its conformance cases; with any one block left out, that does not happen and the op is named."""
# SPDX-License-Identifier: Apache-2.0

from walk import Walk, apply

OP = "Square"


def main():
    walk = Walk(__doc__)
    tree = walk.tree
    blocks = tree.pages["adding-an-op.md"].blocks
    the_list = [block for block in blocks if block["file"].endswith("op_list.inc")]
    assert len(the_list) == 1 and len(blocks) > 2

    tree.apply()
    walk.works(f"all {len(blocks)} blocks", tree.make(f"*{OP}*"))

    for left_out in blocks:
        if left_out in the_list:
            continue
        tree.apply(left_out)
        walk.fails(f"without {left_out['file']}", tree.make(f"*{OP}*"), OP)

    # Without its line in the list the op does not exist. Every file includes the list, so this is
    # asked of the compiler alone.
    name = the_list[0]["file"]
    code = f'#include "ops/ir/graph.h"\nauto kind = stepscope::OpKind::{OP};\n'
    without = tree.plain[name].decode()
    walk.works(f"{OP} with {name}", tree.compiles(code, {name: apply(without, the_list[0])}))
    walk.fails(f"{OP} without {name}", tree.compiles(code, {name: without}), OP)
    walk.end()


if __name__ == "__main__":
    main()
