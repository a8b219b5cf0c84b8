#!/usr/bin/env python3
"""Compares docs/guide/findings.md and docs/guide/first_program.md with the programs they quote.

Each section of findings.md is named after a kind of finding. Its CUDA code must occur in the
program's source. The block after the code must be the message of the program, and the repaired
program must have none. The kinds must be those of docs/reference/checks.md.

  bazel run //tests/docs:findings_test -- --update    updates the messages
"""

import os
import re
import subprocess
import sys

PAGE = "docs/guide/findings.md"
FIRST = "docs/guide/first_program.md"
CHECKS = "docs/reference/checks.md"
SOURCES = ["examples/findings/findings.cu", "examples/findings/warpgroup.cu"]
SMOOTH = "examples/first_program/smooth.cu"

# Kinds without an example: information that no small kernel causes, and a kind that `exec` does not
# report. Kinds that need options: stopped by a low limit; reported on demand.
WITHOUT_EXAMPLE = {"incomplete-check", "unsupported"}
OPTIONS = {"time-limit": ["--instruction-limit=1000000"], "leak": ["--check=all,leaks"]}

# An absolute path: --update leaves the folder that the arguments are relative to.
EXEC, *BUILT = [os.path.abspath(argument) for argument in sys.argv[1:5]]
PROGRAMS = dict(zip(["findings", "warpgroup", "smooth"], BUILT))
failures = []


def expect(what, condition, detail=""):
    if not condition:
        failures.append(what + (":\n" + detail if detail else ""))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(kind, *arguments):
    """The exit status, and the findings printed by `exec` without parts that differ by machine."""
    program = PROGRAMS["warpgroup" if kind == "async-order" else "findings"]
    words = [] if kind == "async-order" else [kind]
    ended = subprocess.run([EXEC, "exec", *OPTIONS.get(kind, []), "--", program, *words,
                            *arguments],
                           capture_output=True, text=True)
    return ended.returncode, normalised(ended.stderr)


def normalised(text):
    text = re.sub(r"[^\s(]*/include/", "…/include/", text)
    text = re.sub(r"[^\s(]*/(\w+)\.cu:", r"\1.cu:", text)
    text = re.sub(r"a call at .*", "a call at …", text)
    text = re.sub(r"by a call at .*", "by a call at …", text)
    text = re.sub(r"0x[0-9a-f]{9,}", "0x…", text)
    lines = [line for line in text.splitlines() if not line.startswith("lockstep: ")]
    return "\n".join(lines).rstrip() + "\n"


def sections(page):
    """The sections by the name of their kind."""
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    return {
        name: body for name, body in zip(parts[1::2], parts[2::2]) if re.fullmatch("[a-z-]+", name)
    }


def blocks(section):
    """The (language, text) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", section, flags=re.M | re.S)


def check_findings(update):
    page = read(PAGE)
    sources = [read(s) for s in SOURCES]
    kinds = set(
        re.findall(
            r"^\| `([a-z-]+)`(?:, `[a-z-]+`)* \|", read(CHECKS).split("## Kinds of finding")[1],
            flags=re.M,
        )
    )
    kinds |= set(
        re.findall(
            r"^- `([a-z-]+)`", read(CHECKS).split("## Kinds of finding")[1].split("\n## ")[0],
            flags=re.M,
        )
    )
    all_sections = sections(page)
    expect("the page has a section for each kind", set(all_sections) | WITHOUT_EXAMPLE >= kinds,
           ", ".join(sorted(kinds - set(all_sections))))
    expect("there are many kinds", len(kinds) >= 20 and len(all_sections) >= 20)
    for kind, section in all_sections.items():
        if kind in WITHOUT_EXAMPLE:
            continue
        messages = [text for language, text in blocks(section) if not language]
        for language, text in blocks(section):
            if language == "cuda":
                expect(
                    "%s: its code stands in a source" % kind, any(text in s for s in sources), text
                )
        expect("%s has one message" % kind, len(messages) == 1)
        status, message = run(kind)
        expect("%s ends with 86, or dies" % kind, status in (86, 139), str(status))
        expect("%s is found" % kind, message.startswith(kind.split("-repaired")[0] + ": "), message)
        if messages and messages[0] != message:
            if update:
                page = page.replace("```\n" + messages[0] + "```", "```\n" + message + "```")
            else:
                expect("%s has the message of the page" % kind, False, message)
        status, message = run(kind, "repaired")
        expect("%s, repaired, is clean" % kind, status == 0 and not message.strip(), message)
    if update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)


def check_first_program():
    page = blocks(read(FIRST))
    expect("the first program stands in the page", any(read(SMOOTH) == text for _, text in page))
    ended = subprocess.run([EXEC, "exec", "--", PROGRAMS["smooth"]], capture_output=True, text=True)
    expect(
        "the first program has a race", ended.returncode == 86 and ended.stdout == "x[0] = 0.5\n"
    )
    message = [line for line in ended.stderr.splitlines() if not line.startswith("lockstep: ")]
    for name in (FIRST, "README.md"):
        for line in message:
            line = re.sub(r"[^\s(]*/(\w+)\.cu:", r"\1.cu:", line)
            expect("%s quotes the message" % name, line + "\n" in read(name), line)


def main():
    update = "--update" in sys.argv
    if update:
        os.chdir(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    check_findings(update)
    check_first_program()
    for failure in failures:
        print("FAILED: " + failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


sys.exit(main())
