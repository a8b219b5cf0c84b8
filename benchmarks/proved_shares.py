#!/usr/bin/env python3
"""How much of what programs access is proved before their launches (docs/reference/proof.md).

    bazel build //tests:all //tests/programs:all //simulator/exec:lockstep-exec
    python3 benchmarks/proved_shares.py                # all families, all of tests/programs
    python3 benchmarks/proved_shares.py stencil bfs    # these alone

Prints a line for each program:

- launches: kernels and shapes with something proved, or with nothing;
- accesses: share of the accesses of their kernels that are proved, each launch counted alike;
- executed: the same, each access counted as often as threads executed it. A kernel that is launched
  in several shapes counts an access as proved in the share of the threads that were launched so;
- in bounds, aligned, initialised, apart: the share of executed accesses with this claim.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CLAIMS = ["in_bounds", "aligned", "initialised", "apart"]
TIME_LIMIT = 400  # seconds


def families():
    text = pathlib.Path("kernels/families.bzl").read_text()
    names = re.search(r"FAMILIES = \[(.*?)\]", text, re.S).group(1)
    return {n: [f"bazel-bin/tests/{n}_test", "--cases=2"] for n in re.findall(r'"(\w+)"', names)}


def programs():
    text = pathlib.Path("tests/programs/BUILD").read_text()
    groups = re.search(r"GROUPS = \{(.*?)\n\}", text, re.S).group(1)
    found = {}
    for group, names in re.findall(r'"(\w+)": \[(.*?)\]', groups, re.S):
        for name in re.findall(r'"(\w+)"', names):
            full = name + "_" + group if group in ("debug", "unoptimised") else name
            run = full if group in ("debug", "unoptimised") else name
            found[full] = [f"bazel-bin/tests/programs/{group}", run]
    return found


def record_of(command):
    """The lines that the simulated runtime records of a run; None: it failed."""
    with tempfile.NamedTemporaryFile("w", suffix=".record", delete=False) as file:
        file.write('{"lost":0}\n')
    folder = os.path.abspath("bazel-bin/simulator")
    environment = dict(os.environ, LOCKSTEP_RECORD=file.name, LOCKSTEP_CERTIFICATE="1",
                       LOCKSTEP_COVERAGE="1", LOCKSTEP_GPU="simulated", LOCKSTEP_QUIET="1",
                       LD_LIBRARY_PATH=folder)
    try:
        done = subprocess.run(command, env=environment, timeout=TIME_LIMIT, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = []
        for line in pathlib.Path(file.name).read_text().splitlines():
            if line.startswith("{") and line.endswith("}"):
                lines.append(json.loads(line))
        return done.returncode, lines
    except subprocess.TimeoutExpired:
        return "time limit", []
    finally:
        os.unlink(file.name)


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def shares(lines):
    executed = collections.Counter()  # by kernel and PTX line: threads
    for line in lines:
        for function in line.get("coverage", {}).get("functions", []):
            for instruction in function["instructions"]:
                executed[function["demangled"], instruction[1]] += instruction[7]
    launches, accesses, proved = 0, 0, 0
    weights = collections.Counter()
    claimed = {claim: collections.Counter() for claim in CLAIMS + ["proved"]}
    for line in lines:
        if "certificate" not in line:
            continue
        certificate = line["certificate"]
        launches += line["launches"]
        threads = line["launches"] * product(certificate["grid"]) * product(certificate["block"])
        for access in certificate["accesses"]:
            key = certificate["kernel"], access["ptx_line"]
            accesses += line["launches"]
            proved += line["launches"] * access["proved"]
            weights[key] += threads
            for claim, counter in claimed.items():
                counter[key] += threads * (access[claim] or
                                           claim == "initialised" and not access["reads"])
    total = sum(executed[key] for key in weights)
    def share(claim):
        held = sum(executed[key] * claimed[claim][key] / weights[key] for key in weights)
        return held / total if total else None
    return {"launches": launches, "accesses": proved / accesses if accesses else None,
            "executed": share("proved"), **{claim: share(claim) for claim in CLAIMS}}


def main(names):
    known = {**families(), **programs()}
    unknown = [n for n in names if n not in known]
    if unknown:
        sys.exit("no such program: " + ", ".join(unknown))
    columns = ["launches", "accesses", "executed"] + CLAIMS
    print("| program | " + " | ".join(c.replace("_", " ") for c in columns) + " |")
    print("| --- |" + " ---: |" * len(columns), flush=True)
    failed = []
    for name in names or known:
        status, lines = record_of(known[name])
        if not any("certificate" in line for line in lines):
            failed.append(f"{name} ({status})")
            continue
        if status != 0:
            failed.append(f"{name} ended with {status}")
        row = shares(lines)
        cells = [str(row["launches"])]
        cells += ["-" if row[c] is None else f"{100 * row[c]:.0f} %" for c in columns[1:]]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if failed:
        print("not measured, or not whole: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
