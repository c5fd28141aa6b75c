#!/usr/bin/env python3
"""Writes schedule_golden.inc: rates as PyTorch's schedulers give them, step by step.

python3 make_schedule_golden.py > schedule_golden.inc, where torch is installed; made with 2.0.1.
"""
# SPDX-License-Identifier: Apache-2.0
import torch
from torch.optim import lr_scheduler as schedulers

RATE = 0.1
LAST = 3000


def sgd():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=RATE)


def rates(make):
    """The rate of steps 0, 1, ..., LAST."""
    optimizer = sgd()
    scheduler = make(optimizer)
    found = []
    for _ in range(LAST + 1):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def warmup(steps, start, then):
    def make(optimizer):
        first = schedulers.LinearLR(optimizer, start_factor=start, total_iters=steps)
        return schedulers.SequentialLR(optimizer, [first, then(optimizer)], milestones=[steps])
    return make


def cosine(steps, floor=0.0):
    return lambda o: schedulers.CosineAnnealingLR(o, T_max=steps, eta_min=floor * RATE)


def step(steps, factor=0.1):
    return lambda o: schedulers.StepLR(o, step_size=steps, gamma=factor)


def exponential(factor):
    return lambda o: schedulers.ExponentialLR(o, gamma=factor)


def constant(optimizer):
    return schedulers.ConstantLR(optimizer, factor=1.0)


# The text, PyTorch's, and where to look: the cosine of PyTorch rises again behind its steps.
CASES = [
    ("constant", constant, [0, 1, 3000]),
    ("step:30", step(30), [0, 1, 29, 30, 31, 59, 60, 90]),
    ("step:7:0.5", step(7, 0.5), [0, 6, 7, 13, 14, 140]),
    ("exponential:0.95", exponential(0.95), [0, 1, 2, 10, 100, 300]),
    ("exponential:0.999", exponential(0.999), [1, 500, 3000]),
    ("exponential:1.001", exponential(1.001), [1, 500, 3000]),
    ("cosine:1000", cosine(1000), [0, 1, 10, 250, 499, 500, 501, 750, 900, 990]),
    ("cosine:1000:0.01", cosine(1000, 0.01), [0, 1, 100, 333, 500, 800, 999, 1000]),
    ("cosine:7:0.5", cosine(7, 0.5), [0, 1, 2, 3, 4, 5, 6, 7]),
    ("warmup:100:0.01", warmup(100, 0.01, constant), [0, 1, 50, 99, 100, 101, 3000]),
    ("warmup:9", warmup(9, 0.1, constant), [0, 1, 4, 8, 9, 10]),
    ("warmup:99,cosine:1000:0.01", warmup(99, 0.01, cosine(1000, 0.01)),
     [0, 1, 98, 99, 100, 599, 1000, 1099]),
    ("warmup:10:0.2,step:30", warmup(10, 0.2, step(30)), [0, 9, 10, 39, 40, 69, 70]),
    ("warmup:10:0.2,exponential:0.9", warmup(10, 0.2, exponential(0.9)), [0, 5, 9, 10, 11, 60]),
]

print("// Written by make_schedule_golden.py: schedule, steps done, the rate that PyTorch")
print(f"// {torch.__version__} gives for a rate of {RATE}.")
print("// SPDX-License-Identifier: Apache-2.0")
for text, make, steps in CASES:
    found = rates(make)
    for done in steps:
        print(f'{{"{text}", {done}, {found[done]!r}}},')
