#!/usr/bin/env python3
"""Checks the line length and the comments of every source of the project.

  tests/docs/sources_test.py [ROOT]    checks the tree at ROOT; by default the tree of this file

The checks, for sources in C++, CUDA, Python, shell, Starlark, CMake, JavaScript and CSS:
- Lines have at most 100 columns. A table (*.inc) may be wider: each row is a line.
- No comment, message or name contains "tell" or its forms: a check reports, a call returns.
- Files, call()s and identifiers named in comments of C++ and CUDA exist: the file in the tree (a
  path may start at any folder), the name in the code of some source.
"""

import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.realpath(__file__)) + "/../.."
SKIPPED = {".git", ".cache", "lockstep-out", "node_modules", "__pycache__"}
SOURCE = re.compile(r".*\.(cc|h|cuh?|inc|py|sh|bzl|awk|cmake|js|css|BUILD)|BUILD|lockstep|"
                    r"WORKSPACE(\.bzlmod)?")
COLUMNS = 100
# Camel case and underscores too: TellsWhy, tell_why.
TELL = re.compile(r"(?<![a-z])([Tt]ell|[Tt]old)(s|ing)?(?![a-z])")
# This file and its neighbour name the word.
OWN = {"tests/docs/pages_test.py", "tests/docs/sources_test.py"}
CPP = re.compile(r"\.(cc|h|cuh?|inc)$")
TOKEN = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/'
)
FILE = re.compile(r"(?<![\w/.<-])(\w[\w/.-]*\.(?:h|cc|cuh?|py|sh|bzl|inc|md))\b")
NAME = re.compile(r"\b([A-Za-z_]\w*)\(\)|\b(k[A-Z]\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"
                  r"|[a-z]+(?:_[a-z0-9]+)+)\b")
# Files of CUDA, of libdw, and of examples.
FOREIGN_FILES = {"crt/host_runtime.h", "cuda.h", "cuda_runtime.h", "cudaTypedefs.h", "cublasLt.h",
                 "cublas_api.h", "cublas_v2.h", "curand.h",
                 "driver_types.h", "libdwfl.h", "nvJitLink.h", "_test.cc",
                 "a.cu", "caller.cu", "k.cu", "tests/x.cu"}
# Instructions of PTX whose names end as files do.
PTX_NAMES = {"add.cc", "sub.cc", "mad.cc"}
FOREIGN_NAMES = {
    # methods, programs, types and options of others
    "AddressSanitizer", "ChaCha20", "CuTe", "D2Q9", "Im2colWide", "MurmurHash3", "NaNs",
    "PageRank", "SplitMix64", "copy_traits_sm100", "copy_traits_sm90_tma", "cuda_fp4", "cuda_fp6",
    "cuda_fp8", "mma_traits_sm100_frag", "recursive_mutex", "test_filter", "texmode_independent",
    "tmem_e_frg", "tmem_sf_frg",
    # the ends of names that begin with __cuda, of registers and of targets
    "GetKernel", "LaunchKernel", "RegisterFatBinary", "RegisterFatBinaryEnd", "RegisterFunction",
    "RegisterManagedVar", "RegisterVar", "cta_group", "driver_types", "gtest_discover_tests",
    "host_runtime", "ld_param", "sm_70",
    # arguments of others' functions, a symbol of the mathematics, examples
    "allow_exceptions", "cuda_check", "device_address", "device_flags", "device_function",
    "gamma_double", "message_passing", "misaligned_by_2", "namespace_id", "t_k", "thread_limit",
}


def split(text):
    """The comments of a C++ source, each with its line, and the rest of the source."""
    comments, rest, end = [], [], 0
    for match in TOKEN.finditer(text):
        rest.append(text[end:match.start()])
        end = match.end()
        if match.group().startswith("/"):
            comments.append((text.count("\n", 0, match.start()) + 1, match.group()))
        else:
            rest.append(match.group())
    return comments, "".join(rest + [text[end:]])


def unknown_names(paths, texts):
    """Names in comments that do not exist."""
    files = set(tree())
    bases = {os.path.basename(path) for path in files}
    ends = {path[i + 1:] for path in files for i, c in enumerate(path) if c == "/"}
    comments, known = {}, set()
    for path in paths:
        comments[path], rest = split(texts[path]) if CPP.search(path) else ([], texts[path])
        known.update(re.findall(r"\w+", rest))
    for path in paths:
        for line, comment in comments[path]:
            comment = re.sub(r"https?://\S+", "", comment)
            for name in FILE.findall(comment):
                if not (name in files or name in bases or name in ends or name in FOREIGN_FILES
                        or name in PTX_NAMES):
                    yield "%s:%d: names the file %s, which does not exist" % (path, line, name)
            for name in {a or b for a, b in NAME.findall(FILE.sub("", comment))}:
                if name not in known and name not in FOREIGN_NAMES:
                    yield "%s:%d: names %s, which no source has" % (path, line, name)


def tree():
    for folder, names, here in os.walk(ROOT):
        below = os.path.relpath(folder, ROOT)
        names[:] = [n for n in names if n not in SKIPPED and not n.startswith("bazel-")
                    and not (below == "." and n == "shared")]
        for name in here:
            yield name if below == "." else below + "/" + name


def sources():
    for path in tree():
        if (SOURCE.fullmatch(os.path.basename(path))
                and not os.path.islink(os.path.join(ROOT, path))):
            yield path


def main():
    failures, count, texts = [], 0, {}
    for path in sorted(sources()):
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            texts[path] = file.read()
        lines = texts[path].splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS and not path.endswith(".inc"):
                failures.append("%s:%d: has %d columns, more than %d"
                                % (path, number, len(line), COLUMNS))
            if TELL.search(line) and path not in OWN:
                failures.append('%s:%d: has the word "%s"'
                                % (path, number, TELL.search(line).group()))
    failures += unknown_names(sorted(texts), texts)
    if count < 500:
        failures.append("%d sources in %s: that is not the tree" % (count, ROOT))
    print("\n".join(failures))
    print("%d sources, %d failures" % (count, len(failures)))
    sys.exit(1 if failures else 0)


main()
