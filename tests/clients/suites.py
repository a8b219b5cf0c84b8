#!/usr/bin/env python3
"""The tests that clients bring, on the simulated GPU: passed, skipped, failed and why.

  tests/clients/suites.py SUITE [--source CHECKOUT] [--lockstep COMMAND] [--python PATH]
      [--work FOLDER] [--seconds N] [--every N] [--small N] [FILE...]

Numba and Warp bring their tests in their package. Those of CuPy, cuda.core and Triton are in their
repositories: CHECKOUT is one of the installed package's version. Each file of tests is a process of
its own under `lockstep exec`. After --seconds (150) it begins no further test. With --every=N it
runs each N-th. FILE is a part of a path, and runs the files that have it. --small=N runs Triton's
tutorials without benchmarks, with N configurations of a kernel and in small sizes (tutorials.py).

known_failures.tsv says which tests are known to fail, and why. Exit status: 0; 1 where another
test failed, or where one that is known to fail passed; 2 for wrong usage. FOLDER/SUITE.tsv gets
every failure and finding.

No test of Bazel runs this: it needs the package index, several gigabytes and hours.
"""

import argparse
import collections
import dataclasses
import fnmatch
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import venv

import tutorials

HERE = pathlib.Path(__file__).resolve().parent
LAST = "leaves the device with an error: "  # so a reason begins: the test runs last in its file


@dataclasses.dataclass(frozen=True)
class Suite:
    packages: tuple  # what pip installs
    module: str = ""  # the package that holds the tests; else they are in a checkout
    folder: str = ""  # of the checkout
    files: tuple = ("**/test_*.py",)
    options: tuple = ()  # of pytest
    path: tuple = ()  # folders of the checkout on PYTHONPATH
    devices: int = 1  # simulated


SUITES = {
    "cupy": Suite(("cupy-cuda13x[ctk]", "numpy", "pytest"),
                  folder="tests/cupy_tests/core_tests",
                  devices=2),
    "numba": Suite(("numba-cuda[cu13]", "numpy", "pytest", "cffi", "psutil", "filecheck",
                    "ml_dtypes"),
                   module="numba.cuda.tests",
                   files=("cuda*/test_*.py", "n*/test_*.py", "doc_examples/test_*.py"),
                   options=("--import-mode=importlib",)),
    "cuda_core": Suite(("cuda-core[cu13]", "numpy", "pytest", "cloudpickle", "psutil",
                        "pytest-benchmark", "pytest-timeout", "pytest-rerunfailures", "cffi"),
                       folder="cuda_core/tests",
                       path=("cuda_python_test_helpers",),
                       devices=2),
    "warp": Suite(("warp-lang", "numpy", "pytest"),
                  module="warp.tests",
                  files=("test_*.py",),
                  options=("-s", "-o", "python_functions=none")),
    "triton": Suite(("torch", "numpy", "pytest", "tabulate", "matplotlib", "pandas"),
                    folder="python/tutorials",
                    files=("[01][0-9]-*.py", "gluon/[01][0-9]-*.py")),
    "triton_core": Suite(("torch", "numpy", "pytest", "scipy"),
                         folder="python/test/unit/language",
                         files=("test_core.py",)),
}


def interpreter(name, options):
    """The interpreter of an environment with a suite's packages."""
    if options.python:
        return pathlib.Path(options.python).absolute()
    folder = options.work / f"suite_{name}"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet",
                        *SUITES[name].packages], check=True)
        (folder / "installed").touch()
    return folder / "bin/python"


def root_of(suite, options, python):
    """The folder of the tests."""
    if not suite.module:
        return options.source / suite.folder
    code = f"import {suite.module} as m; print(m.__path__[0])"
    made = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(made.stdout.splitlines()[-1])


def command(suite, file):
    """What runs a file: pytest, or the script itself where it is not written for pytest."""
    if "\nimport pytest" in file.read_text() or not suite.folder.endswith("tutorials"):
        # Tutorials' names do not match pytest's pattern; a file that is named is collected anyhow.
        return ["-m", "pytest", "-p", "outcomes", "-q", *suite.options, str(file)]
    return [str(HERE / "outcomes.py"), str(file)]


def by_test(lines):
    """The outcomes, each failed test once: pytest reports its subtests, and then that it passed."""
    failed, kept = set(), []
    for line in lines:
        outcome, _, rest = line.partition(" ")
        name = rest.partition(": ")[0]
        if outcome == "failed" and name not in failed:
            failed.add(name)
            kept.append(line)
        elif outcome != "failed":
            kept.append(line)
    return [line for line in kept if line.partition(" ")[0] != "passed" or line[7:] not in failed]


def run(suite, root, file, python, last, options, arguments, device):
    """Runs one file: its outcomes' lines and the findings of its report."""
    outcomes, report = options.work / "outcomes.txt", options.work / "report.json"
    for old in (outcomes, report):
        old.unlink(missing_ok=True)
    paths = [str(HERE), *(str(options.source / p) for p in suite.path),
             *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, LOCKSTEP_OUTCOMES=str(outcomes),
                       LOCKSTEP_SECONDS=str(options.seconds),
                       LOCKSTEP_EVERY=str(options.every), LOCKSTEP_LAST=" ".join(last),
                       PYTHONPATH=":".join(paths),
                       PATH=f"{pathlib.Path(python).parent}:{os.environ['PATH']}")
    if options.small:
        environment["LOCKSTEP_SMALL"] = str(options.small)
    if device:
        environment["LOCKSTEP_DEVICE"] = device
    if suite.module:
        environment["LOCKSTEP_MODULE"] = ".".join(
            [suite.module, *file.relative_to(root).with_suffix("").parts])
    with open(options.work / f"{file.stem}.log", "w") as log:
        child = subprocess.Popen(
            [options.lockstep, "exec", f"--devices={suite.devices}", f"--report={report}", "--",
             python, *command(suite, file), *arguments], env=environment, cwd=options.work,
            stdout=log, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            child.wait(timeout=2 * options.seconds)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)  # and what a test has left behind
        except ProcessLookupError:
            pass
        ended = child.wait()
    lines = by_test(outcomes.read_text().splitlines() if outcomes.exists() else [])
    if ended < 0:
        lines.append(f"cut {file.name}: killed after {2 * options.seconds} s")
    elif not lines:
        lines.append(f"failed {file.name}: no outcome, exit status {ended}")
    findings = json.loads(report.read_text())["findings"] if report.exists() else []
    return lines, findings


def known_failures(name):
    """Patterns of a suite's tests that are known to fail, and the reason of each."""
    rows = (line.split("\t") for line in (HERE / "known_failures.tsv").read_text().splitlines()
            if line and not line.startswith("#"))
    return {pattern: reason for suite, pattern, reason in rows if suite == name}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--lockstep", default="lockstep", help="the command, or lockstep-exec")
    parser.add_argument("--python")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("lockstep-clients"))
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--every", type=int, default=1, help="each N-th test of a file alone")
    parser.add_argument("--small", type=int, default=0, metavar="N",
                        help="of triton: in small sizes, N configurations of a kernel")
    options = parser.parse_intermixed_args()
    suite = SUITES[options.suite]
    if not suite.module and not options.source:
        parser.error(f"the tests of {options.suite} are in its repository: --source")
    options.work = options.work.resolve()
    options.source = options.source.resolve() if options.source else pathlib.Path()
    options.work.mkdir(parents=True, exist_ok=True)
    python = interpreter(options.suite, options)
    root = root_of(suite, options, python)
    files = sorted({f for pattern in suite.files for f in root.glob(pattern)
                    if not options.files or any(part in str(f) for part in options.files)})
    if not files:
        parser.error(f"there is no file of tests below {root}")

    runs = []
    for file in files:
        small = (tutorials.SMALL.get(file.name) if options.small else None) or tutorials.Small()
        runs += [(file, small, arguments) for arguments in small.arguments]
    known = known_failures(options.suite)
    last = [pattern for pattern, reason in known.items() if reason.startswith(LAST)]
    total, reasons, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    surprises = []
    with open(options.work / f"{options.suite}.tsv", "a") as table:
        for file, small, arguments in runs:
            began = time.monotonic()
            lines, findings = run(suite, root, file, python, last, options, arguments,
                                  small.device)
            seconds = time.monotonic() - began
            count = collections.Counter(line.split(" ", 1)[0] for line in lines)
            total.update(count)
            for line in lines:
                outcome, _, rest = line.partition(" ")
                test = rest.partition(": ")[0]
                reason = next((why for p, why in known.items() if fnmatch.fnmatchcase(test, p)),
                              None)
                if outcome == "failed":
                    table.write(f"{file.name}\tfailed\t{rest}\n")
                    reasons[reason or "not known"] += 1
                if (outcome == "failed") != (reason is not None) and outcome in ("failed",
                                                                                "passed"):
                    surprises.append(line)
            for finding in findings:
                severity = finding.get("severity", "error")
                kinds[f"{severity} {finding['kind']}"] += 1
                table.write(f"{file.name}\t{severity} {finding['kind']}\t"
                            f"{' | '.join(finding['text'].splitlines())}\n")
            table.flush()
            name = " ".join([str(file.relative_to(root)), *arguments])
            print(f"{name}: {count['passed']} passed, {count['skipped']} skipped,"
                  f" {count['failed']} failed{', cut' if count['cut'] else ''};"
                  f" {len(findings)} findings, {seconds:.0f} s", flush=True)
    print(f"{options.suite}, {len(files)} files, {total['cut']} cut: {total['passed']} passed, "
          f"{total['skipped']} skipped, {total['failed']} failed")
    for reason, times in reasons.most_common():
        print(f"  {times} failed: {reason}")
    for kind, times in kinds.most_common():
        print(f"  {times} findings: {kind}")
    for line in surprises:
        print(f"  SURPRISE: {line}")
    sys.exit(1 if surprises else 0)


main()
