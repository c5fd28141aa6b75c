#!/usr/bin/env python3
"""Tries the instrument on arms whose answer is known: `stepscope compare --self-check`, many times.

Each run has a null pair (unfused eager twice, which must not be told apart) and a planted one (every
tenth step done twice, which must be found slower). Writes every run's numbers as JSON and a page.
What must hold for 20 runs: at most 3 null pairs FASTER or SLOWER, at least 18 planted ones SLOWER.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

KINDS = ("control", "same", "planted")


def facts_of(record):
    """What the page says of the machine."""
    environment = record["environment"]
    return {name: environment.get(name, {}).get("value")
            for name in ("processor", "logical_cpus", "virtual_machine", "operating_system",
                         "compiler", "compiler_flags")}


def run_once(program, words):
    done = subprocess.run([program, "compare", "--self-check", "--quiet", "--json", "-", *words],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare ended with status {done.returncode}")
    return json.loads(done.stdout)


def pair_of(record, kind):
    pair = next(each for each in record["pairs"] if each["kind"] == kind)
    ratio = pair["ratios"][0]
    return {name: ratio[name] for name in ("time_ratio", "interval_method", "processes", "blocks",
                                           "voided", "delta", "p_holm", "verdict", "per_process",
                                           "verdict_reason")}


def summary_of(record):
    row = {"created": record["created"], "status": record["status"],
           "status_reason": record["status_reason"], "schedule": record["schedule"],
           "load_average": record["environment"].get("load_average", {}).get("value"),
           "verdicts": dict(Counter(ratio["verdict"] for pair in record["pairs"]
                                    if pair["kind"] == "arm" for ratio in pair["ratios"]))}
    for kind in KINDS:
        row[kind] = pair_of(record, kind)
    interval = row["control"]["time_ratio"]
    row["floor"] = math.sqrt(interval["high"] / interval["low"]) - 1.0 if interval else None
    blocks = [block["void_cause"] for pair in record["pairs"] for process in pair["processes"]
              for block in process["blocks"]]
    row["voided"] = {"blocks": len(blocks), "voided": sum(1 for cause in blocks if cause)}
    return row


def ratio_text(ratio):
    interval = ratio["time_ratio"]
    if not interval:
        return "none"
    return f"{interval['estimate']:.4f} [{interval['low']:.4f}, {interval['high']:.4f}]"


def page_of(series):
    rows = series["runs"]
    null = Counter(row["same"]["verdict"] for row in rows)
    planted = Counter(row["planted"]["verdict"] for row in rows)
    floors = [row["floor"] for row in rows if row["floor"] is not None]
    counted = lambda verdicts: ", ".join(f"{n} {name}" for name, n in sorted(verdicts.items()))
    text = ["# The instrument tried on arms whose answer is known", "",
            f"Command of each run: `{series['command']}`", ""]
    text += [f"- {name}: {value}" for name, value in series["machine"].items() if value]
    lost = [row["voided"]["voided"] / row["voided"]["blocks"] for row in rows]
    text += ["", f"- Null pair, {len(rows)} runs: {counted(null)}.",
             f"- Planted 10 %, {len(rows)} runs: {counted(planted)}.",
             f"- Noise floor (half the width of the A/A interval): median "
             f"{statistics.median(floors):.2%}, from {min(floors):.2%} to {max(floors):.2%}.",
             f"- Blocks voided by the sentinel, of all pairs: median {statistics.median(lost):.0%}, from "
             f"{min(lost):.0%} to {max(lost):.0%}; above 30 % in {sum(x > 0.3 for x in lost)} runs.", "",
             "| run | processes x blocks | voided | A/A | null pair | verdict | planted | verdict | status |",
             "|---|---|---|---|---|---|---|---|---|"]
    for number, row in enumerate(rows, 1):
        same = row["same"]
        text.append(
            f"| {number} | {row['schedule']['processes']} x {row['schedule']['blocks']} "
            f"| {row['voided']['voided']} of {row['voided']['blocks']} | {ratio_text(row['control'])} | {ratio_text(same)} "
            f"| {same['verdict']} | {ratio_text(row['planted'])} | {row['planted']['verdict']} "
            f"| {row['status']} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/bin/stepscope")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True, help="OUT.json and OUT.md are written")
    parser.add_argument("words", nargs="*", help="further words of compare, behind --")
    options = parser.parse_args()
    series = {"command": " ".join(["stepscope", "compare", "--self-check", *options.words]),
              "machine": None, "runs": []}
    for number in range(options.runs):
        record = run_once(options.program, options.words)
        series["machine"] = facts_of(record)
        series["runs"].append(summary_of(record))
        row = series["runs"][-1]
        print(f"{number + 1}/{options.runs}: null {row['same']['verdict']}, planted "
              f"{row['planted']['verdict']}, status {row['status']}", file=sys.stderr, flush=True)
        options.out.with_suffix(".json").write_text(json.dumps(series, indent=1) + "\n")
        options.out.with_suffix(".md").write_text(page_of(series))


if __name__ == "__main__":
    main()
