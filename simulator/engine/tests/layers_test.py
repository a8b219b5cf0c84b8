#!/usr/bin/env python3
"""The layers of simulator/engine: no include points up.

  simulator/engine/tests/layers_test.py [ROOT]    by default the tree that this lies in

Bazel's visibility holds the same between packages. This also finds what Bazel cannot: a package
that nobody gave a place, and a package whose BUILD file names a layer that it does not use.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = sys.argv[1] if len(sys.argv) > 1 else HERE + "/../../.."
ENGINE = os.path.join(ROOT, "simulator/engine")
# From the bottom up; those of one line may not include each other.
LAYERS = [
    ["launch"],
    ["state"],
    ["monitor"],
    ["access"],
    ["ops/alu", "ops/memory", "ops/sync"],
    ["ops/async", "ops/matrix"],
    ["ops/tensor"],
    ["ops/control"],
    ["run"],
]
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}


def package_of(path):
    return max((p for p in HEIGHT if path.startswith(p + "/")), key=len, default=None)


failures = []
included = {package: set() for package in HEIGHT}
for folder, _, files in os.walk(ENGINE):
    below = os.path.relpath(folder, ENGINE)
    if below == "tests" or below == ".":
        continue
    for name in files:
        path = below + "/" + name
        package = package_of(path)
        if package is None:
            failures.append(f"{path}: its package is no layer")
            continue
        if name.endswith("_test.cc") or "_test_" in name or not name.endswith((".h", ".cc")):
            continue
        with open(os.path.join(folder, name), encoding="utf8") as source:
            for header in re.findall(r'#include "simulator/engine/([^"]+)"', source.read()):
                other = package_of(header)
                if other is None:
                    failures.append(f"{path}: {header} lies in no layer")
                elif other != package:
                    included[package].add(other)
                    if HEIGHT[other] >= HEIGHT[package]:
                        failures.append(f"{path}: {header} lies in a layer above, or beside")

for package in HEIGHT:
    with open(os.path.join(ENGINE, package, "BUILD"), encoding="utf8") as build:
        named = set(re.findall(r'"//simulator/engine/([a-z/]+)(?::\w+)?",', build.read()))
    named = {n for n in named if n in HEIGHT and n != package}
    # visibility names those above, deps those below
    below = {n for n in named if HEIGHT[n] < HEIGHT[package]}
    for unused in sorted(below - included[package]):
        failures.append(f"{package}/BUILD names {unused}, and no source includes it")

for failure in sorted(failures):
    print(failure)
arrows = sum(len(others) for others in included.values())
print(f"{len(HEIGHT)} packages, {arrows} arrows, {len(failures)} failures")
if arrows < 20:
    print("that are too few arrows: the includes were not found")
sys.exit(1 if failures or arrows < 20 else 0)
