#!/usr/bin/env python3
"""The layers of simulator/engine and simulator/runtime, and what simulator/translate may include:
no include points up.

  simulator/engine/tests/layers_test.py [ROOT]    by default the tree that this lies in

Bazel holds the same: by the visibility of the engine's packages, and by the deps of the runtime's
libraries. This also finds what Bazel cannot: a folder that nobody gave a place, and a package whose
BUILD file names a layer that it does not use.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = sys.argv[1] if len(sys.argv) > 1 else HERE + "/../../.."
# From the bottom up; those of one line may not include each other.
LAYERS = {
    "engine": [
        ["launch"],
        ["state"],
        ["monitor"],
        ["access"],
        ["ops/alu", "ops/memory", "ops/sync"],
        ["ops/async", "ops/matrix"],
        ["ops/tensor"],
        ["ops/control"],
        ["run"],
    ],
    "runtime": [
        ["order"],
        ["host", "queue", "repeats"],
        ["state"],
        ["inspect", "mutation", "work"],
        ["graph"],
        ["api", "process"],
    ],
}
# Packages below the engine, and those of simulator/ that they may include.
BELOW = {
    "translate": ["isa", "program", "translate"],
}
# Fewer, and the includes were not found.
FEWEST_ARROWS = {"engine": 20, "runtime": 12}

failures = []


def check(part, layers):
    """Appends to `failures`; returns the numbers of packages and of arrows between them."""
    folder_of_part = os.path.join(ROOT, "simulator", part)
    height = {package: height for height, layer in enumerate(layers) for package in layer}
    included = {package: set() for package in height}

    def package_of(path):
        return max((p for p in height if path.startswith(p + "/")), key=len, default=None)

    for folder, _, files in os.walk(folder_of_part):
        below = os.path.relpath(folder, folder_of_part)
        if below == "tests" or below == ".":
            continue
        for name in files:
            path = below + "/" + name
            package = package_of(path)
            if package is None:
                failures.append(f"{part}/{path}: its package is no layer")
                continue
            if name.endswith("_test.cc") or "_test_" in name or not name.endswith((".h", ".cc")):
                continue
            with open(os.path.join(folder, name), encoding="utf8") as source:
                headers = re.findall(rf'#include "simulator/{part}/([^"]+)"', source.read())
            for header in headers:
                other = package_of(header)
                if other is None:
                    failures.append(f"{part}/{path}: {header} lies in no layer")
                elif other != package:
                    included[package].add(other)
                    if height[other] >= height[package]:
                        failures.append(f"{part}/{path}: {header} lies in a layer above, or beside")

    for package in height:
        path = os.path.join(folder_of_part, package, "BUILD")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf8") as build:
            named = set(re.findall(rf'"//simulator/{part}/([a-z/]+)(?::\w+)?",', build.read()))
        named = {n for n in named if n in height and n != package}
        # visibility names those above, deps those below
        below = {n for n in named if height[n] < height[package]}
        for unused in sorted(below - included[package]):
            failures.append(f"{part}/{package}/BUILD names {unused}, and no source includes it")
    return len(height), sum(len(others) for others in included.values())


for part, layers in LAYERS.items():
    packages, arrows = check(part, layers)
    print(f"{part}: {packages} packages, {arrows} arrows")
    if arrows < FEWEST_ARROWS[part]:
        failures.append(f"{part}: these are too few arrows: the includes were not found")
for part, allowed in BELOW.items():
    folder = os.path.join(ROOT, "simulator", part)
    included = []
    for name in sorted(os.listdir(folder)):
        if name.endswith((".h", ".cc")) and not name.endswith("_test.cc"):
            with open(os.path.join(folder, name), encoding="utf8") as source:
                for header in re.findall(r'#include "simulator/([^"]+)"', source.read()):
                    included.append(header)
                    if header.split("/")[0] not in allowed:
                        failures.append(f"{part}/{name}: {header} is not below it")
    print(f"{part}: {len(included)} includes")
    if not included:
        failures.append(f"{part}: its includes were not found")
for failure in sorted(failures):
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
