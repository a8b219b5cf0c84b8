#!/usr/bin/env python3
"""Frameworks as pip installs them, on the simulated GPU: what passes, what fails and why.

  tests/clients/run.py [--lockstep COMMAND] [--work FOLDER] [--python CLIENT=PATH]... [CLIENT...]

Candidates of tests/clients/judged get their known verdicts from `lockstep judge`.

Each client is installed from the package index into its own environment below FOLDER, unless
--python names an interpreter that already has it. The client's checks run under `lockstep exec`.
Its planted mistakes run too, and each must be reported at its line. The table is printed on stdout.
Exit status: 0; 1 if a check failed that is not a known failure, if a known failure passed, or if a
mistake was not reported; 2 for wrong usage.

No test of Bazel runs this: it needs the package index and several gigabytes (PyTorch).
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
MISTAKES = {"race": "race", "off_by_one": "out-of-bounds", "unwritten": "uninitialised"}
# Candidates for `lockstep judge` and the reasons of their verdicts; none: accepted.
JUDGED = {
    # One element past the end of a row is the first element of the next row, which another block
    # writes.
    "triton": {"right": [], "operator": ["library"], "past_the_end": ["out-of-bounds", "race"],
               "hard_coded": ["unwritten-output"]},
    "cupy": {"right": [], "off_by_one": ["out-of-bounds"], "wrong": ["wrong-result"]},
}
PTX_120 = "its kernels of CUB and Thrust have PTX for compute_120 alone: --device=sm_120"

# The packages to install, the checks, whether mistakes are planted, and known failures.
CLIENTS = {
    "triton": (["torch", "numpy"], True, {}),
    "torch": (["torch", "numpy", "ninja"], True, {}),
    "cupy": (["cupy-cuda13x[ctk]", "numpy"], True, {
        "sort": PTX_120,
        "unique": PTX_120,
    }),
    "numba": (["numba-cuda[cu13]", "numpy"], True, {}),
    "cuda_core": (["cuda-core[cu13]", "numpy"], False, {}),
    "warp": (["warp-lang", "numpy"], True, {}),
}


def install(client, work):
    """The path of the Python interpreter of a client's environment."""
    folder = work / client
    python = folder / "bin/python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *CLIENTS[client][0]], check=True)
        (folder / "installed").touch()
    return python


def run(lockstep, python, work, script, *arguments, report=None):
    command = [*lockstep, "exec", *([f"--report={report}"] if report else []), "--", str(python),
               str(script), *arguments]
    environment = dict(os.environ)
    environment["PATH"] = f"{pathlib.Path(python).parent}:{environment['PATH']}"  # ninja
    # Warp's cache is keyed by source text, not by path: findings would name another checkout.
    environment["WARP_CACHE_PATH"] = str(work / "warp_cache")
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=3600)


def checks(client, lockstep, python, work):
    """Prints a client's rows. Returns the number of unexpected outcomes."""
    known = CLIENTS[client][2]
    done = run(lockstep, python, work, HERE / f"{client}_checks.py")
    passed = re.findall(r"^passed (.*)$", done.stdout, re.M)
    failed = dict(re.findall(r"^failed (.*?): (.*)$", done.stdout, re.M))
    print(f"{client}: {len(passed)} passed, {len(failed)} failed", flush=True)
    surprises = 0
    for name, reason in failed.items():
        expected = known.get(name)
        surprises += expected is None
        print(f"  {'known to fail' if expected else 'FAILED'}: {name}: {expected or reason}")
    for name in set(known) & set(passed):
        surprises += 1
        print(f"  PASSED although it is known to fail: {name}")
    if not passed and not failed:
        surprises += 1
        print("  NO CHECK RAN:\n" + "\n".join(done.stdout.splitlines()[-12:]))
    return surprises


def planted_line(client, mistake):
    """The line of a planted mistake, found by its mark, as the compiler counts lines."""
    source = HERE / "planted" / f"{client}_mistakes.{'cu' if client == 'torch' else 'py'}"
    text = source.read_text()
    if client == "cupy":  # CUDA C++ in a string: the compiler counts from its first line
        text = text.split('r"""', 1)[1]
    lines = text.splitlines()
    return next(i for i, line in enumerate(lines, 1) if f"planted: {mistake}" in line)


def mistakes(client, lockstep, python, work):
    """Runs the planted mistakes. Returns the number that were not reported."""
    missed = 0
    for mistake, kind in MISTAKES.items():
        report = work / f"{client}_{mistake}.json"
        report.unlink(missing_ok=True)
        run(lockstep, python, work, HERE / "planted" / f"{client}_mistakes.py", mistake,
            report=report)
        findings = json.loads(report.read_text())["findings"] if report.exists() else []
        line = planted_line(client, mistake)
        # Warp generates C++: the finding's Python line is that of the inlined call.
        place = f"inlined at {HERE / 'planted' / f'{client}_mistakes.py'}:{line}\n"
        found = any(f["kind"] == kind and (f["line"] == line or place in f["text"] + "\n")
                    for f in findings)
        missed += not found
        print(f"  planted {mistake}: {'found' if found else 'MISSED'}, {kind} at line {line}",
              flush=True)
    return missed


def judged(client, lockstep, python):
    """Judges a client's candidates. Returns the number of unexpected verdicts."""
    surprises = 0
    for name, codes in JUDGED.get(client, {}).items():
        done = subprocess.run(
            [*lockstep, "judge", f"--task={HERE}/judged/{client}_task.py", "--cases=6", "--json=-",
             str(HERE / "judged" / f"{client}_{name}.py")],
            env=dict(os.environ, LOCKSTEP_PYTHON=str(python)), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=600)
        try:
            verdict = json.loads(done.stdout)
        except ValueError:
            print(f"  judged {name}: NO VERDICT: {done.stderr[-400:]}", flush=True)
            surprises += 1
            continue
        reasons = list(dict.fromkeys(r["code"] for r in verdict["reasons"]))
        right = set(codes) <= set(reasons) if codes else not reasons
        right = right and set(reasons[:1]) <= set(codes)  # which comes first depends on the case
        surprises += not right
        print(f"  judged {name}: {', '.join(reasons) or 'accepted'}" +
              ("" if right else f", NOT {', '.join(codes) or 'accepted'}") +
              f", {verdict['seconds']['total']} s", flush=True)
    return surprises


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", default="lockstep", help="the command, or lockstep-exec")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("lockstep-clients"))
    parser.add_argument("--python", action="append", default=[], metavar="CLIENT=PATH")
    parser.add_argument("clients", nargs="*")
    options = parser.parse_args()
    unknown = set(options.clients) - set(CLIENTS)
    if unknown:
        parser.error(f"there is no client {', '.join(sorted(unknown))}")
    given = dict(p.split("=", 1) for p in options.python)
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for client in options.clients or CLIENTS:
        python = given.get(client) or install(client, options.work)
        wrong += checks(client, [options.lockstep], python, options.work)
        if CLIENTS[client][1]:
            wrong += mistakes(client, [options.lockstep], python, options.work)
        wrong += judged(client, [options.lockstep], python)
    sys.exit(1 if wrong else 0)


main()
