#!/usr/bin/python3
"""lockstep judge: accepts right candidates, and rejects wrong and cheating ones for their reason.

  judge_test.py [right | wrong] [NAME]     only these, and only candidates whose name contains NAME
"""

import os
import sys
import tempfile
import time

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HERE)

import tasks  # noqa: E402
from lockstep import judging  # noqa: E402
from lockstep.isolation import Limits  # noqa: E402
from attacks import ATTACKS  # noqa: E402
from right import RIGHT  # noqa: E402
from wrong import WRONG  # noqa: E402

_TASK_FILE = os.path.join(_HERE, "tasks.py")


def _edited(file, edits, folder):
    with open(os.path.join(_HERE, "candidates", file), encoding="utf-8") as source:
        text = source.read()
    for old, new in edits:
        if text.count(old) < 1:
            raise SystemExit(f"{file}: there is no '{old}' to edit")
        text = text.replace(old, new, 1)
    path = os.path.join(folder, file)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.replace("@TASK@", os.path.realpath(_TASK_FILE)))
    return path


def _judge(task, file, edits, seconds, cases):
    with tempfile.TemporaryDirectory() as folder:
        settings = judging.Settings(cases=cases, seed=2026, limits=Limits(seconds, 1))
        return judging.judge(getattr(tasks, task), _edited(file, edits, folder), settings,
                             [_TASK_FILE])


def _of_this_shard(rows):
    """Bazel's protocol: each shard takes every n-th, and says so by a file."""
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        with open(os.environ["TEST_SHARD_STATUS_FILE"], "w", encoding="ascii"):
            pass
    first = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    return rows[first::int(os.environ.get("TEST_TOTAL_SHARDS", "1"))]


def main(which, part):
    failed, slowest, count = 0, (0.0, ""), 0
    rows = [(*row, "") for row in RIGHT if which != "wrong"]
    rows += [row for row in WRONG + ATTACKS if which != "right"]
    rows = _of_this_shard(rows)
    for name, task, file, edits, code in rows:
        if part not in name:
            continue
        began = time.monotonic()
        for cases in (4, 8) if code else (8,):  # most of what is wrong shows in the first four
            made = _judge(task, file, edits, 2 if code == "time" else 60, cases)
            if made.reasons:
                break
        seconds = time.monotonic() - began
        reasons = made.reasons.sorted()
        got = reasons[0].code if reasons else ""
        right = got == code
        failed += not right
        count += 1
        slowest = max(slowest, (seconds, name))
        print(f"{'ok    ' if right else 'FAILED'} {seconds:5.2f} s  {task}: {name}: "
              f"{got or 'accepted'}" + ("" if right else f", not {code or 'accepted'}"), flush=True)
        if not right:
            for reason in reasons[:4]:
                print(f"         {reason.code}: {reason.text[:600]}", flush=True)
    print(f"{count - failed} of {count}; the slowest took {slowest[0]:.2f} s ({slowest[1]})")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    words = sys.argv[1:] + ["", ""]
    sys.exit(main(words[0], words[1]))
