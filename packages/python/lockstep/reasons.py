"""The reasons for a rejection: the codes of a verdict, in the order of their weight."""

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List

# Codes with their meanings. The first of a verdict's reasons is the heaviest. Codes of findings are
# in docs/reference/checks.md: "race", "out-of-bounds", …
CODES: Dict[str, str] = {
    "compile": "the candidate does not compile",
    "load": "the candidate cannot be loaded, or has no such kernel or function",
    "forbidden-call": "a system call that the isolation refuses: files, processes, network",
    "tampering": "an attempt to change the checks, the findings or the judge's own code",
    "reads-the-task": "the candidate opened the file of the task or of the reference",
    "library": "a library or operator that is machine code, so that nothing checks it",
    "not-replayed": "work of the device that cannot be judged without the candidate's host code",
    "time": "the candidate did not end in time",
    "crash": "the candidate's process ended",
    "error": "the candidate raised or returned an error",
    "no-kernel": "no kernel was launched, and there was work to do",
    "other-stream": "work in another stream than the one that was given",
    "copy": "a copy, by which a result can come from elsewhere",
    "state-between-calls": "something is kept from one call to the next",
    "host-results": "results that the candidate's kernels do not compute by themselves",
    "unwritten-output": "elements of an output that this call did not write",
    "input-changed": "an input was changed",
    "wrote-outside": "bytes between the rows of an output were changed",
    "stale-output": "the result of the call before",
    "ignores-inputs": "the same result for other inputs",
    "nan": "NaN where the reference has none, or none where it has one",
    "wrong-result": "elements outside of the bound",
    "precision": "elements outside of the bound, all of them near the reference",
    "nondeterministic": "other bits under another schedule, where the task demands the same",
}
# Findings have the weight of this code and are listed after it.
_FINDINGS_AFTER = "other-stream"


def weight(code: str) -> float:
    """The position of a code in the order; a small one is heavy."""
    order = list(CODES)
    return order.index(code) if code in CODES else order.index(_FINDINGS_AFTER) + 0.5


@dataclass
class Reason:
    """One reason: its code, a sentence, the source line if known, the first case and call in which
    it occurred (0: before any), and how often."""

    code: str
    text: str
    place: str = ""
    case: int = 0
    call: int = 0
    times: int = 1

    def json(self) -> Dict[str, Any]:
        return {"code": self.code, "text": self.text, "place": self.place, "case": self.case,
                "call": self.call, "times": self.times}


class Reasons:
    """Collects reasons: one for each code and place, with its number of occurrences."""

    def __init__(self) -> None:
        self._by_key: Dict[tuple, Reason] = {}

    def add(self, reason: Reason) -> None:
        key = (reason.code, reason.place)
        if key in self._by_key:
            self._by_key[key].times += 1
        else:
            self._by_key[key] = reason

    def add_all(self, reasons: Iterable[Reason]) -> None:
        for reason in reasons:
            self.add(reason)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def rename(self, old: str, new: str) -> None:
        """Replaces a path in all of them."""
        for reason in self._by_key.values():
            reason.text = reason.text.replace(old, new)
            reason.place = reason.place.replace(old, new)

    def sorted(self) -> List[Reason]:
        """The heaviest first; with equal weight, the earliest first."""
        return sorted(self._by_key.values(), key=lambda r: (weight(r.code), r.case, r.call))
