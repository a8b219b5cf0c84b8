#!/usr/bin/env python3
"""Checks the links, names and layout of every Markdown page of the project.

  tests/docs/pages_test.py [ROOT]    checks the tree at ROOT; by default the tree of this file

The checks:
- The target of a relative link exists; its fragment is a heading of that file.
- In `code`: paths below a folder of the tree and labels exist; a single word with an underscore, a
  capital or a leading -- occurs in some file that is not a page.
- Lines outside fenced blocks have at most 100 columns. A row of a table may be longer if a cell
  cannot be broken. Generated pages are exempt.
- The README has at most 700 words. docs/README.md lists every page of docs/.
- No page contains "tell" or its forms.
"""

import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.realpath(__file__)) + "/../.."
GENERATED = {"docs/reference/ptx_coverage.md"}
# Old entries name files of their time.
HISTORY = {"CHANGELOG.md"}
SKIPPED = {".git", "lockstep-out", "node_modules"}
COLUMNS = 100
# Folders of users or of other programs in examples.
PLACEHOLDER = re.compile(
    r"[<>*…$]|\.\.\.|\b(dot|pick|cube)(_\w+)?\b|\bNAME\b|\bFOLDER\b|lockstep-out"
)
# Names of other projects: Bazel's rules, remote execution engines, a test named by a macro.
FOREIGN = {
    "archive_override", "bazel_built_test", "http_archive", "local_path_override",
    "model_validation", "platform_properties", "poolName",
    "supported_platform_properties"
}
# Names of CUDA; only simulated ones occur in the sources.
CUDA_NAME = re.compile(r"(cuda|cu)[A-Z]\w+|CU_\w+|CUDA_\w+")
FOREIGN_HEADER = re.compile(r"(cub|thrust|cooperative_groups|cuda)/")

failures = []


def fail(page, line, text):
    failures.append("%s:%d: %s" % (page, line, text))


def tree():
    files, folders = set(), {""}
    for folder, names, here in os.walk(ROOT):
        names[:] = [
            n for n in names if n not in SKIPPED and not n.startswith("bazel-")
            and n != "__pycache__"
        ]
        below = os.path.relpath(folder, ROOT)
        below = "" if below == "." else below + "/"
        folders.update(below + n for n in names)
        files.update(below + n for n in here)
    return files, folders


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def words_of_sources(files):
    """Every word of the files that are not pages: names in pages must be among them."""
    words = set()
    for path in files:
        if path.endswith((".md", ".png", ".zst", ".svg", ".bin")) or "/corpus/" in path:
            continue
        if os.path.getsize(os.path.join(ROOT, path)) < 4 << 20:
            words.update(re.findall(r"[A-Za-z_]\w*", read(path)))
    return words


def anchors(path):
    """The fragments of a page: its headings, converted as code hosts do."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_blocks(read(path)), flags=re.M):
        text = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def without_blocks(text):
    """The page with empty lines in place of fenced blocks."""
    out, fenced = [], False
    for line in text.split("\n"):
        if re.match(r"\s*```", line):
            fenced = not fenced
            out.append("")
        else:
            out.append("" if fenced else line)
    return "\n".join(out)


def check_link(page, line, target, files, folders):
    path, _, fragment = target.partition("#")
    whole = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if whole not in files and whole not in folders:
        fail(page, line, "links to %s, which is not there" % target)
    elif fragment and whole.endswith(".md") and fragment not in anchors(whole):
        fail(page, line, "links to %s, and there is no such heading" % target)


def expanded(name):
    """a.{h,cc} -> a.h, a.cc"""
    braces = re.search(r"\{([^{}]*)\}", name)
    if not braces:
        return [name]
    return [name[:braces.start()] + part + name[braces.end():] for part in braces[1].split(",")]


def check_path(page, line, name, files, folders):
    for path in expanded(re.sub(r":\d+$", "", name).rstrip("/")):
        if path not in files and path not in folders:
            fail(page, line, "names `%s`, which is not in the tree" % path)


def check_label(page, line, name, files, folders):
    folder, _, target = name[2:].partition(":")
    build = next((folder + "/" * bool(folder) + b for b in ("BUILD", "BUILD.bazel")
                  if folder + "/" * bool(folder) + b in files), None)
    if folder.endswith("...") or folder == "":
        return
    if build is None:
        return fail(page, line, "names `%s`, and %s/ has no BUILD file" % (name, folder))
    if not target:
        return None
    text = read(build) + read("kernels/families.bzl")
    stem = re.sub(r"(_gpu)?(_test)?$", "", target)
    if folder + "/" + target not in files and not any(
        re.search(r'"%s(_test|_)?"' % re.escape(t), text) for t in (target, stem)
    ):
        return fail(page, line, "names `%s`, and %s does not" % (name, build))
    return None


def check_word(page, line, name, words):
    for word in re.findall(r"[A-Za-z_]\w*", name)[-1:]:
        if word not in words and word not in FOREIGN and not CUDA_NAME.fullmatch(word):
            fail(page, line, "names `%s`, which occurs in no source" % name)


def check_code(page, line, code, files, folders, words):
    if PLACEHOLDER.search(code) or " " in code:
        return
    top = code.lstrip("./").split("/")[0]
    if code.startswith("//"):
        check_label(page, line, code, files, folders)
    elif "/" in code and top in folders and re.fullmatch(r"[\w./{},:+-]+", code):
        check_path(page, line, code, files, folders)
    elif re.fullmatch(
        r"[\w./-]+\.(h|cc|cu|cuh|inc|bzl|txt|py|sh|md|proto)(:\d+)?", code
    ) and "/" in code:
        if not code.startswith("/") and not FOREIGN_HEADER.match(code):
            name = "/" + re.sub(r":\d+$", "", code)
            if not any(("/" + f).endswith(name) for f in files):
                fail(page, line, "names `%s`, and no file ends so" % code)
    elif re.fullmatch(r"--[a-z][\w-]*(=.*)?", code):
        option = re.match(r"--([\w-]+)", code)[1]
        check_word(
            page, line,
            option.replace("-", "_") if option.replace("-", "_") in words
                else option.split("-")[-1],
            words,
        )
    elif re.fullmatch(r"[A-Za-z_][\w:]*(\(\))?", code) and re.search(r"_|[a-z][A-Z]|::", code):
        check_word(page, line, code, words)


def check_layout(page, text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
        if fenced or len(line) <= COLUMNS or page in GENERATED:
            continue
        if line.startswith("|"):
            continue
        if not re.search(r"\]\(\S{60,}\)", line):
            fail(page, number, "has %d columns" % len(line))


def check_page(page, files, folders, words):
    text = read(page)
    check_layout(page, text)
    for number, line in enumerate(without_blocks(text).split("\n"), 1):
        quoted = re.sub(r"`[^`]*`|\"[^\"]*\"", "", line)
        if re.search(
            r"\b(tell|tells|told|telling)\b", quoted, flags=re.I
        ) and page not in GENERATED:
            fail(page, number, "has the word tell")
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if not re.match(r"[a-z]+:", target):
                check_link(page, number, target, files, folders)
        for code in [] if page.startswith("docs/journal/") else re.findall(r"`([^`]+)`", line):
            check_code(page, number, code, files, folders, words)


def main():
    files, folders = tree()
    words = words_of_sources(files)
    pages = sorted(f for f in files if f.endswith(".md"))
    assert len(pages) > 20 and len(words) > 10000, "this is no tree of the project"
    for page in pages:
        if page not in HISTORY:
            check_page(page, files, folders, words)
    count = len(read("README.md").split())
    if count > 700:
        fail("README.md", 1, "has %d words, more than 700" % count)
    index = read("docs/README.md")
    for page in pages:
        if page.startswith("docs/") and page != "docs/README.md" and "(%s)" % page[5:] not in index:
            fail("docs/README.md", 1, "does not link %s" % page)
    for failure in failures:
        print(failure)
    print("%d pages, %d failures" % (len(pages), len(failures)))
    return 1 if failures else 0


sys.exit(main())
