#!/usr/bin/env python3
"""Steady step times of the three nets on eigen and onednn, as a page for docs/results.

Backends never share a process (their spinning threads disturb each other), so each cell of the
schedule is a process of `stepscope compare` of its own: three modes, unfused and fused, interleaved
inside it. Processes of the two backends alternate, and their order turns around from round to round.
Beside each process `fma_peak` tells what the core can do at that moment, because shares of a peak
carry over to another machine and times do not.

A cell is the median over processes of the process's median; the spread is the lowest and the highest
process. Nothing is dropped. With one process a round and few rounds this is exploratory.

usage: steady_steps.py --bin BUILD/bin [--rounds 5] [--budget 2s] [--cpu N] [--out docs/results/steady-steps]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

MODELS = ("mlp", "small_cnn", "lenet")
BACKENDS = ("eigen", "onednn")
BATCHES = (1, 32, 128, 1024)
MODES = ("eager", "planned", "graph")
FUSIONS = ("off", "on")

# Arithmetic of a step for one row, and hand-written plans on one core of another machine with a peak
# of 117.2 GFLOP/s (2-vCPU AMD EPYC Zen 4, Debian 12, oneDNN 2.6.3), in microseconds a step: for mlp a
# static plan on dnnl_sgemm with fused loops and one on oneDNN primitives, for the CNNs oneDNN
# primitives made beforehand, in layouts of the library's choice.
FLOP_PER_ROW = {"mlp": 409_088, "small_cnn": 1.172e6, "lenet": 2.264e6}
PEER_PEAK = 117.2e9
PEERS = {
    "mlp": {
        "static plan, dnnl_sgemm": {1: 11.3, 32: 123, 128: 475, 1024: 3774},
        "static plan, oneDNN primitives": {1: 13.3, 32: 123, 128: 481, 1024: 3909},
    },
    "small_cnn": {"oneDNN prebuilt": {1: 35.4, 32: 860, 128: 3824, 1024: 34998}},
    "lenet": {"oneDNN prebuilt": {1: 91, 32: 1597, 128: 6693, 1024: 58413}},
}


def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def pinned(options):
    return ["taskset", "-c", str(options.cpu)] if options.cpu is not None else []


def peak(options):
    return run_json(pinned(options) + [options.bin / "fma_peak"])["gflops"] * 1e9


def compare(options, model, backend, batch):
    with tempfile.NamedTemporaryFile(suffix=".json") as record:
        command = pinned(options) + [options.bin / "stepscope", "compare"]
        command += ["--model", model, "--backend", backend, "--batch", str(batch), "--mode", ",".join(MODES)]
        command += ["--data", "generated", "--quick", "--budget", options.budget, "--quiet"]
        for fusion in FUSIONS:
            command += ["--fusion", fusion]
        done = subprocess.run(command + ["--json", record.name], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{model} on {backend} at {batch}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(pathlib.Path(record.name).read_text())


def arms_of(record):
    """(mode, fusion) -> median of a step in seconds."""
    arms = {}
    for arm in record["arms"]:
        if arm["role"] != "arm":
            continue
        if arm["mode_executed"] != arm["mode_requested"]:
            sys.exit(f"asked for {arm['mode_requested']}, {arm['mode_executed']} was executed")
        arms[arm["mode_executed"], arm["fusion"]] = arm["latency_summary"]["median_ns"] * 1e-9
    return arms


def measure(options):
    """[{model, backend, batch, round, peak, arms}], in the order of running."""
    cells = []
    started = time.monotonic()
    for turn in range(options.rounds):
        for model in options.models:
            for batch in options.batches:
                for backend in BACKENDS if turn % 2 == 0 else BACKENDS[::-1]:
                    before = peak(options)
                    record = compare(options, model, backend, batch)
                    after = peak(options)
                    cells.append({
                        "model": model, "backend": backend, "batch": batch, "round": turn,
                        "peak": [before, after],
                        "arms": [{"mode": m, "fusion": f, "seconds": s} for (m, f), s in arms_of(record).items()],
                    })
                    print(f"{time.monotonic() - started:6.0f} s  round {turn + 1}  {model:10} {batch:5}  {backend}",
                          file=sys.stderr)
    return cells


def microseconds(seconds):
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def of_arm(cells, model, backend, batch, mode, fusion):
    """Seconds and shares of the peak, one of each per process."""
    times, shares = [], []
    for cell in cells:
        if (cell["model"], cell["backend"], cell["batch"]) != (model, backend, batch):
            continue
        for arm in cell["arms"]:
            if (arm["mode"], arm["fusion"]) == (mode, fusion):
                times.append(arm["seconds"])
                # The better of the two probes: what can be lowered is what somebody else took.
                shares.append(FLOP_PER_ROW[model] * batch / arm["seconds"] / max(cell["peak"]))
    return times, shares


def peer_share(model, batch):
    best = min(PEERS[model].values(), key=lambda row: row[batch])
    return FLOP_PER_ROW[model] * batch / (best[batch] * 1e-6) / PEER_PEAK


def times_table(cells, options, model):
    head = ["batch", "backend"] + [f"{mode}, {'fused' if fusion == 'on' else 'unfused'}"
                                   for mode in MODES for fusion in FUSIONS]
    lines = ["| " + " | ".join(head) + " |", "|" + "---:|---|" + "---:|" * (len(head) - 2)]
    for batch in options.batches:
        for backend in BACKENDS:
            row = [str(batch), backend]
            for mode in MODES:
                for fusion in FUSIONS:
                    times, _ = of_arm(cells, model, backend, batch, mode, fusion)
                    row.append(f"{microseconds(statistics.median(times))} "
                               f"({microseconds(min(times))} .. {microseconds(max(times))})")
            lines.append("| " + " | ".join(row) + " |")
    return lines


def shares_table(cells, options, model):
    lines = ["| batch | eigen | onednn | hand-written plan | plan / onednn |", "|---:|---:|---:|---:|---:|"]
    for batch in options.batches:
        shares = {}
        for backend in BACKENDS:
            _, found = of_arm(cells, model, backend, batch, "graph", "on")
            shares[backend] = statistics.median(found)
        peer = peer_share(model, batch)
        lines.append(f"| {batch} | {shares['eigen']:.3f} | {shares['onednn']:.3f} | {peer:.3f} | "
                     f"{peer / shares['onednn']:.2f} |")
    return lines


def page(cells, options, devices):
    peaks = [max(cell["peak"]) * 1e-9 for cell in cells]
    lines = [
        "# Steady step times of mlp, small_cnn and lenet", "",
        "<!-- written by bench/suites/steady_steps.py; what is said about the numbers stands in "
        "docs/results/README.md -->", "",
        f"Repeat: `bench/suites/steady_steps.py --bin build/release/bin --rounds {options.rounds} "
        f"--budget {options.budget}{f' --cpu {options.cpu}' if options.cpu is not None else ''}`", "",
        f"{len(cells)} processes, one thread each, {options.rounds} rounds; eigen and onednn alternate. Kernel "
        f"{platform.release()}. Peak of a core by `fma_peak` beside each process: median "
        f"{statistics.median(peaks):.0f} GFLOP/s ({min(peaks):.0f} .. {max(peaks):.0f}).", "",
        "```", devices.strip(), "```", ""]
    for model in options.models:
        lines += [f"## {model}", "",
                  "Microseconds a step: median over processes of the median (lowest .. highest process).", "",
                  *times_table(cells, options, model), "",
                  "Share of the arithmetic peak, graph and fused, and that of the better hand-written plan of "
                  "another machine:", "",
                  *shares_table(cells, options, model), ""]
    return "\n".join(lines)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of stepscope and fma_peak")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", default="2s", help="of each process, for its timed steps")
    parser.add_argument("--cpu", type=int, help="pins every process to it; default: the system's choice")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--batches", default=",".join(map(str, BATCHES)))
    parser.add_argument("--out", type=pathlib.Path, help="writes OUT.md and OUT.json; default: standard output")
    options = parser.parse_args(arguments)
    options.models = options.models.split(",")
    options.batches = [int(batch) for batch in options.batches.split(",")]
    return options


def main():
    options = parse(sys.argv[1:])
    devices = subprocess.run([options.bin / "stepscope", "devices"], capture_output=True, text=True, check=True)
    cells = measure(options)
    text = page(cells, options, devices.stdout)
    if options.out is None:
        print(text)
        return
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".md").write_text(text)
    options.out.with_suffix(".json").write_text(json.dumps(cells, indent=1) + "\n")


if __name__ == "__main__":
    main()
