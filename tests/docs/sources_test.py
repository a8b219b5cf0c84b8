#!/usr/bin/env python3
"""Every source of the project: its lines fit, and its comments and messages name what happens.

  tests/docs/sources_test.py [ROOT]    checks the tree at ROOT; by default the one that this lies in

What is checked, of sources in C++, CUDA, Python, shell and Starlark:
- Lines have at most 100 columns. A table (*.inc) may be wider: it has a row a line.
- "tell" and its forms stand in no comment, message or name: a check reports, a call returns.
- The folders in LONG and TELLING are exceptions. An exception that no source needs is an error.
"""

import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.realpath(__file__)) + "/../.."
SKIPPED = {".git", ".cache", "lockstep-out", "node_modules", "__pycache__"}
SOURCE = re.compile(r".*\.(cc|h|cuh?|py|sh|bzl|BUILD)|BUILD|lockstep|WORKSPACE(\.bzlmod)?")
COLUMNS = 100
# Camel case and underscores too: TellsWhy, tell_why.
TELL = re.compile(r"(?<![a-z])([Tt]ell|[Tt]old)(s|ing)?(?![a-z])")
# This file and its neighbour name the word.
OWN = {"tests/docs/pages_test.py", "tests/docs/sources_test.py"}

# Folders and files whose lines may be longer.
LONG = {
    "simulator/check/BUILD": "rewritten with the engine's layers",
    "simulator/compile/BUILD": "rewritten with the engine's layers",
    "simulator/engine": "rewritten with the engine's layers",
}
# Folders and files that still have the word.
TELLING = {
    "simulator/check": "rewritten with the engine's layers",
    "simulator/compile": "rewritten with the engine's layers",
    "simulator/engine": "rewritten with the engine's layers",
}


def sources():
    for folder, names, here in os.walk(ROOT):
        below = os.path.relpath(folder, ROOT)
        names[:] = [n for n in names if n not in SKIPPED and not n.startswith("bazel-")
                    and not (below == "." and n == "shared")]
        for name in here:
            path = name if below == "." else below + "/" + name
            if SOURCE.fullmatch(name) and not os.path.islink(os.path.join(ROOT, path)):
                yield path


def exception(path, exceptions):
    """The folder or file of `exceptions` that `path` is or lies in, or None."""
    return next((e for e in exceptions if path == e or path.startswith(e + "/")), None)


def main():
    failures, used, count = [], set(), 0
    for path in sorted(sources()):
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            found = []
            if len(line) > COLUMNS:
                found.append((LONG, "has %d columns, more than %d" % (len(line), COLUMNS)))
            if TELL.search(line) and path not in OWN:
                found.append((TELLING, 'has the word "%s"' % TELL.search(line).group()))
            for exceptions, text in found:
                excuse = exception(path, exceptions)
                if excuse:
                    used.add(excuse)
                else:
                    failures.append("%s:%d: %s" % (path, number, text))
    for excuse in sorted((LONG.keys() | TELLING.keys()) - used):
        failures.append("%s: no source there needs its exception" % excuse)
    if count < 500:
        failures.append("%d sources in %s: that is not the tree" % (count, ROOT))
    print("\n".join(failures))
    print("%d sources, %d failures" % (count, len(failures)))
    sys.exit(1 if failures else 0)


main()
