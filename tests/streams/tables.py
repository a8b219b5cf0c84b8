#!/usr/bin/env python3
"""Makes the tables of this folder, and of docs/journal/streams_silicon.md, of a GPU's answers.

  cases --list | tests/streams/tables.py --cases FILE
                                          FILE: what `cases twin KIND 5` and `cases mistake KIND 5`
                                          printed there, each line behind "twin" or "mistake" and a
                                          tab; a case that FILE has not keeps its answer
  tests/streams/tables.py --calls FILE    what `order --all 3` or `order --from NAME 3` printed
                                          there; a call that FILE has not keeps its answer
  tests/streams/tables.py                 the page again, of the tables
"""

import collections
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
PAGE = HERE + "/../../docs/journal/streams_silicon.md"
STREAMS = ("blocking", "non-blocking", "legacy")
CASES = ("# Kind, case, wrong results of the mistake and of its twin on an H100, or - where none "
         "has run\n# it.\n")
CALLS = ("# Call, and what an H100 showed of it: for a kernel in a blocking, in a non-blocking and "
         "in the legacy\n# stream, or - where none has been asked. After a semicolon: what the "
         "simulated GPU counts instead.\n")


def rows(name):
    with open(HERE + "/" + name) as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def write(name, head, table):
    with open(HERE + "/" + name, "w") as file:
        file.write(head + "".join("\t".join(row) + "\n" for row in table))


def count(answers):
    return "%d of %d" % (answers.count("wrong"), len(answers)) if answers else "-"


def cases(answers, listed):
    """The rows of the cases in `listed`, the lines of `cases --list`."""
    seen = collections.defaultdict(list)
    for line in open(answers):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 3 and fields[2] in ("right", "wrong"):
            seen[fields[0], fields[1]].append(fields[2])
    old = {row[1]: row[2:] for row in rows("cases.tsv")}
    table = []
    for kind, name in listed:
        new = [count(seen[which, name]) for which in ("mistake", "twin")]
        table.append([kind, name] + (old.get(name, new) if new == ["-", "-"] else new))
    write("cases.tsv", CASES, table)


def calls(answers):
    """The majority result of the runs; remarks after a semicolon stay."""
    seen = collections.defaultdict(list)
    names = []
    for line in open(answers):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 4:
            seen[fields[0], fields[1]].append(fields[2] + ", " + fields[3])
            if fields[0] not in names:
                names.append(fields[0])
    old = {row[0]: row[1:] for row in rows("calls.tsv")}
    table = []
    for name in list(old) + [name for name in names if name not in old]:
        if name not in names:
            table.append([name] + old[name])
            continue
        row = [name]
        for i, stream in enumerate(STREAMS):
            all_of_them = seen[name, stream]
            seen_before, _, remark = old.get(name, [""] * 3)[i].partition(";")
            answer = max(all_of_them, key=all_of_them.count)
            # For a call that no GPU was measured with, the remark stays if it differs.
            if seen_before == "-" and remark.split()[-1] == answer.split()[-1]:
                remark = ""
            row.append(answer + (";" + remark if remark else ""))
        table.append(row)
    write("calls.tsv", CALLS, table)


def page():
    """Replaces the text between the page's markers."""
    of_cases, kind = "", None
    for row in rows("cases.tsv"):
        if row[0] != kind:
            kind = row[0]
            of_cases += "\n### %s\n\n| case | mistake | twin |\n| --- | --- | --- |\n" % (
                kind.capitalize())
        of_cases += "| `%s` | %s | %s |\n" % tuple(row[1:])
    of_calls = "\n| call | %s | %s | %s |\n| --- | --- | --- | --- |\n" % STREAMS
    of_calls += "".join("| %s | %s | %s | %s |\n" % tuple(row) for row in rows("calls.tsv"))
    with open(PAGE) as file:
        text = file.read()
    for name, table in (("cases", of_cases), ("calls", of_calls)):
        before, begin, rest = text.partition("<!-- %s -->\n" % name)
        _, end, after = rest.partition("\n<!-- end of %s -->\n" % name)
        assert begin and end, "the page has no place for the " + name
        text = before + begin + table + end + after
    with open(PAGE, "w") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--cases":
        cases(sys.argv[2], [line.split("\t")[:2] for line in sys.stdin])
    elif len(sys.argv) == 3 and sys.argv[1] == "--calls":
        calls(sys.argv[2])
    elif len(sys.argv) != 1:
        sys.exit(__doc__)
    page()
