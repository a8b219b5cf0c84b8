"""Judges a candidate by the results of one call: pure functions on the host's data."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

import numpy as np

from lockstep.answers import Malformed
from lockstep.bound import Bounded, Comparison, compare
from lockstep.cases import Case, Placed
from lockstep.dtypes import decode, dtype
from lockstep.findings import Finding
from lockstep.reasons import Reason

# An error below this share of the largest value counts as an error of precision.
_NEAR = 2.0 ** -5
# This many elements are not equal to those of another call by chance.
_MANY = 16


@dataclass
class Call:
    """One call of a case with its results. expected: by the output's name. poison: the bytes that
    filled the outputs. memory: the contents of each array's memory before and after."""

    case: Case
    number: int  # from 1
    schedule: int
    inputs: Dict[str, np.ndarray]
    scalars: Dict[str, Any]
    expected: Dict[str, Bounded]
    before: Dict[str, np.ndarray]
    poison: bytes
    answer: Dict[str, Any] = field(default_factory=dict)
    after: Dict[str, np.ndarray] = field(default_factory=dict)
    comparisons: Dict[str, Comparison] = field(default_factory=dict)

    @property
    def has_work(self) -> bool:
        return any(p.elements for p in self.case.placed if p.array.role != "input")

    def result(self, placed: Placed) -> Optional[np.ndarray]:
        memory = self.after.get(placed.shares or placed.array.name)
        return None if memory is None else placed.gather(memory)

    def outputs(self) -> List[Placed]:
        return [p for p in self.case.placed if p.array.role != "input"]

    def blocks(self) -> List[bytes]:
        """The contents of each array's memory before the call, in the order of case.placed."""
        return [self.before[p.array.name].tobytes() for p in self.case.placed]

    def take(self, answer: Dict[str, Any], blocks: List[bytes]) -> None:
        """The results from a process, with the bytes of its `outputs`. Raises Malformed."""
        self.answer = answer
        for name, data in zip(answer["outputs"], blocks):
            before = self.before.get(name)
            if before is None or before.nbytes != len(data):
                raise Malformed(f"{len(data)} bytes for {name}")
            self.after[name] = np.frombuffer(data, before.dtype)

    def reason(self, code: str, text: str, place: str = "") -> Reason:
        return Reason(code, text, place, self.case.number, self.number)


def of_process(call: Call, host_copies: bool, library_calls: bool) -> List[Reason]:
    """Judges errors, findings, and the requested operations."""
    answer, found = call.answer, []
    if answer["error"]:
        found.append(call.reason("error", answer["error"]))
    for name in answer["exchanged"][:3]:
        found.append(call.reason("tampering", f"it exchanged {name} of the judge's worker"))
    for path in answer["reading"]:
        found.append(call.reason("reads-the-task", f"it opened {path}"))
    if answer["libraries"] and not library_calls:
        found.append(call.reason("library", "it uses " + ", ".join(answer["libraries"][:6])))
    for raw in answer["findings"]:
        finding = Finding.from_json(raw)
        if finding.is_error and not (finding.kind == "api-error" and answer["error"]):
            found.append(call.reason(finding.kind, finding.text, finding.place))
    done = [o for o in answer["operations"] if o["kind"] != "failed call"]
    kernels = [o for o in done if o["kind"] == "kernel"]
    if call.has_work and not kernels and not answer["error"]:
        calls = ", ".join(dict.fromkeys(o["call"] for o in done)) or "nothing"
        found.append(call.reason("no-kernel", f"no kernel was launched; it called {calls}"))
    elsewhere = [o for o in done if not o["given"]]
    if elsewhere:
        what = ", ".join(dict.fromkeys(f"{o['kind']} by {o['call']}" for o in elsewhere))
        found.append(call.reason("other-stream", f"not in the stream that was given: {what}"))
    copies = [o for o in done if o["kind"] == "copy"]
    if copies and not host_copies:
        what = ", ".join(dict.fromkeys(o["call"] for o in copies))
        found.append(call.reason("copy", f"{what}: the task allows no copies"))
    if answer["kept"]:
        found.append(call.reason("state-between-calls", "a call has changed the device variable " +
                                 ", ".join(answer["kept"])))
    return found


def unwritten(call: Call, placed: Placed) -> np.ndarray:
    """The elements of an output that hold this call's poison."""
    result = call.result(placed)
    size = dtype(placed.array.dtype).size
    if placed.array.role != "output" or placed.shares or result is None:
        return np.zeros(placed.shape, bool)
    pattern = np.frombuffer((call.poison * size)[:size], result.dtype)[0]
    unsigned = f"u{size}"
    return result.view(unsigned) == pattern.view(unsigned)


def of_results(call: Call, earlier: Optional[Call]) -> List[Reason]:
    """Compares the outputs with the reference. `earlier`: the call before, of the same case."""
    found: List[Reason] = []
    for placed in call.outputs():
        name, result = placed.array.name, call.result(placed)
        if result is None:
            continue
        poisoned = unwritten(call, placed)
        outcome = compare(result, call.expected[name], placed.array.dtype)
        call.comparisons[name] = outcome
        if outcome.matches:
            continue
        bad = outcome.bad_mask if outcome.bad_mask is not None else np.ones(placed.shape, bool)
        missing = bad & poisoned
        if missing.any():
            first = [int(i) for i in np.argwhere(missing)[0]]
            found.append(call.reason(
                "unwritten-output",
                f"{name}: {int(missing.sum())} of {missing.size} elements were not written, the "
                f"first {first}"))
            if not (bad & ~poisoned).any():
                continue
        found.append(call.reason(*_why(call, earlier, placed, outcome, bad & ~poisoned)))
    found += _around(call)
    return found


def _why(call: Call, earlier: Optional[Call], placed: Placed, outcome: Comparison,
         bad: np.ndarray) -> tuple:
    name, result = placed.array.name, call.result(placed)
    lines = f"{name}: {outcome.bad} of {outcome.compared} elements: " + "; ".join(outcome.lines[:3])
    if earlier is not None and result.size >= _MANY and not np.array_equal(
            earlier.expected[name].value, call.expected[name].value, equal_nan=True):
        before = earlier.result(placed)
        if before is not None and before.tobytes() == result.tobytes():
            return "ignores-inputs", f"{name} is the same for other inputs; {lines}"
        if compare(result, earlier.expected[name], placed.array.dtype).matches:
            return "stale-output", f"{name} is what the call before had to give; {lines}"
    if outcome.nan_mismatches:
        return "nan", f"{outcome.nan_mismatches} elements differ in being NaN; {lines}"
    kind = dtype(placed.array.dtype)
    if kind.is_float:
        value = np.asarray(call.expected[name].value, np.float64)
        with np.errstate(invalid="ignore"):
            error = np.abs(decode(result, kind) - value)[bad]
        finite = np.abs(value[np.isfinite(value)])
        largest = float(finite.max()) if finite.size else 0.0
        if error.size and np.isfinite(error).all() and error.max() <= _NEAR * largest:
            return "precision", (f"error/bound up to {outcome.worst:.3g}; {lines}")
    return "wrong-result", lines


def _around(call: Call) -> List[Reason]:
    """Checks inputs and the bytes between rows, which must be unchanged."""
    found = []
    shared_with = {p.shares for p in call.case.placed if p.shares}
    for placed in call.case.placed:
        name = placed.array.name
        if placed.shares or name not in call.after:
            continue
        unsigned = f"u{dtype(placed.array.dtype).size}"
        changed = call.after[name].view(unsigned) != call.before[name].view(unsigned)
        used = placed.used()
        if placed.array.role == "input" and name not in shared_with and (changed & used).any():
            found.append(call.reason("input-changed", f"{name}: {int((changed & used).sum())} "
                                     "elements of an input were changed"))
        if (changed & ~used).any():
            found.append(call.reason("wrote-outside", f"{name}: {int((changed & ~used).sum())} "
                                     "elements between its rows were changed"))
    return found


def of_pair(first: Call, again: Call, deterministic: bool) -> List[Reason]:
    """Compares two calls with the same inputs and complementary poisons. `again` is not the call
    directly after `first`."""
    found: List[Reason] = []
    for placed in first.outputs():
        both = unwritten(first, placed) & unwritten(again, placed)
        if both.any():
            where = [int(i) for i in np.argwhere(both)[0]]
            found.append(again.reason("unwritten-output", f"{placed.array.name}: "
                                      f"{int(both.sum())} of {both.size} elements hold what was "
                                      f"there before in two calls, the first {where}"))
        one, other = first.result(placed), again.result(placed)
        if deterministic and one is not None and other is not None and \
                one.tobytes() != other.tobytes():
            found.append(again.reason("nondeterministic", f"{placed.array.name}: other bits under "
                                      f"schedule {again.schedule} than under {first.schedule}"))
    done = [[o["kind"] for o in c.answer["operations"] if o["kind"] != "failed call"]
            for c in (first, again)]
    if done[0] != done[1] and not again.answer["error"] and not first.answer["error"]:
        def say(kinds: List[str]) -> str:
            return ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds)) or "nothing"
        found.append(again.reason("state-between-calls", "the first call of these inputs requested "
                                  f"{say(done[0])}, a repeated one {say(done[1])}"))
    return found


def of_objects(call: Call, warm: bool) -> List[Reason]:
    """Reports allocations, streams, events and graphs that a call has not released. warm: the
    process has made calls before, so frameworks already hold their permanent objects."""
    extra = call.answer["objects"]
    if extra > 0 and warm:
        return [call.reason("state-between-calls", f"{extra} more allocations, streams, events or "
                            "graphs exist after the call than before")]
    return []
