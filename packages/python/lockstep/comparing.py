"""lockstep compare: judges a kernel and its changed version on the same cases, in one table."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from lockstep import verdict
from lockstep.bound import distance_in_ulp
from lockstep.candidate import Candidate
from lockstep.contract import Task
from lockstep.judging import Judgement, Settings, judge
from lockstep.places import toolkit_program

SCHEMA = "lockstep.comparison/1"

# Rows of the table: a name, and the counters that are summed.
_COUNTS = [
    ("kernel launches", ["launches"]),
    ("warp instructions", ["warp_instructions"]),
    ("thread instructions", ["thread_instructions"]),
    ("sectors loaded", ["global_load_sectors"]),
    ("sectors stored", ["global_store_sectors"]),
    ("bank conflicts", ["shared_load_bank_conflicts", "shared_store_bank_conflicts"]),
    ("shuffles", ["shuffles"]),
    ("atomics", ["atomics"]),
    ("barriers", ["barriers"]),
]


@dataclass(frozen=True)
class Difference:
    """The differences of both: the numbers of compared outputs and elements, the number of elements
    with different bits, and the largest difference in values of the type, with its place."""

    outputs: int = 0
    same_outputs: int = 0
    elements: int = 0
    differing: int = 0
    largest_ulp: float = 0.0
    where: str = ""

    def text(self) -> str:
        if not self.outputs:
            return "nothing to compare"
        if not self.differing:
            return f"the same bits in {self.outputs} outputs, {self.elements} elements"
        size = "NaN on one side" if np.isinf(self.largest_ulp) else f"{self.largest_ulp:.0f} ulp"
        return (f"other bits in {self.differing} of {self.elements} elements, up to {size} "
                f"({self.where})")


def difference(old: Judgement, new: Judgement) -> Difference:
    """Compares the outputs of the calls that both have completed."""
    theirs = {(c.case.number, c.number): c for c in new.calls}
    outputs = same = elements = differing = 0
    largest, where = 0.0, ""
    for call in old.calls:
        other = theirs.get((call.case.number, call.number))
        for placed in call.outputs() if other is not None else []:
            one, two = call.result(placed), other.result(placed)
            if one is None or two is None:
                continue
            outputs += 1
            elements += one.size
            unsigned = f"u{one.itemsize}"
            unlike = one.view(unsigned) != two.view(unsigned)
            same += not unlike.any()
            differing += int(unlike.sum())
            if unlike.any():
                apart = np.where(unlike, distance_in_ulp(one, two, placed.array.dtype), 0)
                at = np.unravel_index(int(np.argmax(apart)), apart.shape)
                if apart[at] >= largest:
                    largest = float(apart[at])
                    where = f"{placed.array.name}{[int(i) for i in at]} of {call.case.text()}"
    return Difference(outputs, same, elements, differing, largest, where)


def resources(candidate: Optional[Candidate], device: str) -> Dict[str, int]:
    """Registers of a thread, bytes of static shared memory and of spills, by ptxas; empty without
    ptxas or without PTX. For several kernels, the largest of each."""
    program = toolkit_program("ptxas")
    if candidate is None or not candidate.ptx or not program:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(candidate.ptx)
        done = subprocess.run([program, "-v", f"--gpu-name={device}", "-o",
                               os.path.join(folder, "out"), path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
    found: Dict[str, int] = {}
    for name, pattern in (("registers", r"Used (\d+) registers"),
                          ("shared bytes", r"(\d+) bytes smem"),
                          ("spilled bytes", r"(\d+) bytes spill stores")):
        values = [int(v) for v in re.findall(pattern, done.stdout)]
        if values or (found and name != "registers"):
            found[name] = max(values, default=0)
    return found


@dataclass
class Compared:
    """Two judgements with the same seed, and their differences."""

    old: Judgement
    new: Judgement
    task_path: str = ""

    def rows(self) -> List[Tuple[str, Optional[int], Optional[int]]]:
        """(name, before, after); None for an unknown number."""
        def total(made: Judgement, names: List[str]) -> int:
            return sum(c.answer["counters"].get(n, 0) for c in made.calls for n in names)
        rows: List[Tuple[str, Optional[int], Optional[int]]] = [
            (name, total(self.old, names), total(self.new, names)) for name, names in _COUNTS]
        device = self.old.settings.device
        before, after = (resources(m.candidate, device) for m in (self.old, self.new))
        for name in ("registers", "shared bytes", "spilled bytes"):
            rows.append((name, before.get(name), after.get(name)))
        return rows

    def new_reasons(self) -> List[Any]:
        """Reasons of the new kernel that the old one does not have, by code."""
        had = {r.code for r in self.old.reasons.sorted()}
        return [r for r in self.new.reasons.sorted() if r.code not in had]

    def gone_reasons(self) -> List[str]:
        has = {r.code for r in self.new.reasons.sorted()}
        return [r.code for r in self.old.reasons.sorted() if r.code not in has]

    def json(self) -> Dict[str, Any]:
        found = difference(self.old, self.new)
        return {
            "schema": SCHEMA,
            "old": verdict.as_json(self.old, self.task_path),
            "new": verdict.as_json(self.new, self.task_path),
            "results": found.text(),
            "same_bits": found.outputs > 0 and found.differing == 0,
            "elements": found.elements, "differing": found.differing,
            "largest_ulp": None if np.isinf(found.largest_ulp) else found.largest_ulp,
            "new_reasons": [r.json() for r in self.new_reasons()],
            "gone_reasons": self.gone_reasons(),
            "counters": {name: {"old": a, "new": b} for name, a, b in self.rows()},
        }

    def text(self) -> str:
        def say(made: Judgement) -> str:
            return "accepted" if made.accepted else made.reasons.sorted()[0].code
        lines = [f"{self.old.candidate_path} -> {self.new.candidate_path}, "
                 f"{self.old.settings.cases} cases, seed {self.old.seed}", "",
                 f"  {'':20}{'old':>18}{'new':>18}{'change':>10}",
                 f"  {'verdict':20}{say(self.old):>18}{say(self.new):>18}"]
        for name, before, after in self.rows():
            if before is None and after is None:
                continue
            change = "" if before is None or after is None or before == after else \
                f"{100 * (after - before) / before:+.1f}%" if before else f"+{after}"
            shown = ["?" if v is None else f"{v}" for v in (before, after)]
            lines.append(f"  {name:20}{shown[0]:>18}{shown[1]:>18}{change:>10}".rstrip())
        lines += ["", "  results: " + difference(self.old, self.new).text()]
        for reason in self.new_reasons():
            lines.append(f"  new: {reason.code}" + (f" at {reason.place}" if reason.place else ""))
            lines += ["    " + line for line in reason.text.splitlines()[:6]]
        lines += [f"  gone: {code}" for code in self.gone_reasons()]
        if not self.new.accepted and not self.new_reasons():
            lines.append("  the new one is rejected for what the old one is rejected for")
        return "\n".join(lines) + "\n"


def compare_kernels(task: Task, old: str, new: str, settings: Settings,
                    hidden: Sequence[str] = (), task_path: str = "") -> Compared:
    """Judges both on the same cases. Raises as judging.judge()."""
    before = judge(task, old, settings, hidden)
    settings.seed = before.seed
    return Compared(before, judge(task, new, settings, hidden), task_path)
