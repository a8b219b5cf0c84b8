#!/usr/bin/env python3
"""Every source of the project: its lines fit, and its comments and messages name what happens.

  tests/docs/sources_test.py [ROOT]    checks the tree at ROOT; by default the one that this lies in

What is checked, of sources in C++, CUDA, Python, shell and Starlark:
- Lines have at most 100 columns. A table (*.inc) may be wider: it has a row a line.
- "tell" and its forms stand in no comment, message or name: a check reports, a call returns.
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


def sources():
    for folder, names, here in os.walk(ROOT):
        below = os.path.relpath(folder, ROOT)
        names[:] = [n for n in names if n not in SKIPPED and not n.startswith("bazel-")
                    and not (below == "." and n == "shared")]
        for name in here:
            path = name if below == "." else below + "/" + name
            if SOURCE.fullmatch(name) and not os.path.islink(os.path.join(ROOT, path)):
                yield path


def main():
    failures, count = [], 0
    for path in sorted(sources()):
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                failures.append("%s:%d: has %d columns, more than %d"
                                % (path, number, len(line), COLUMNS))
            if TELL.search(line) and path not in OWN:
                failures.append('%s:%d: has the word "%s"'
                                % (path, number, TELL.search(line).group()))
    if count < 500:
        failures.append("%d sources in %s: that is not the tree" % (count, ROOT))
    print("\n".join(failures))
    print("%d sources, %d failures" % (count, len(failures)))
    sys.exit(1 if failures else 0)


main()
