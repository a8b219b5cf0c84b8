"""The clean process of a candidate with host code. It repeats the device operations of the
candidate's process (transcript.py), on inputs that the candidate's process never had.

So host code cannot supply a result: it does not know the inputs, and the process that computes the
results executes only its launches, copies and fills. Checks and findings are those of the clean
process, too.
"""

from typing import Any, Dict, List

import numpy as np

from lockstep import answers
from lockstep.assessment import Call, of_results
from lockstep.frames import Closed
from lockstep.process import Process
from lockstep.reasons import Reason
from lockstep.transcript import KEPT, texts_of

_KINDS = {"launch": "kernel", "library": "kernel", "copy": "copy", "write": "copy"}
_MANY = 16  # this many values are not right by chance


class ReplayEnded(Exception):
    """The clean process has ended; the message says how."""


class Replay:
    """Replays the candidate's operations in `process`, which has no other code of the candidate.
    expected(call): the reference's results. ended: a reason after which no replay is possible."""

    def __init__(self, process: Process, expected: Any):
        self.process, self.expected = process, expected
        self.ptx: List[str] = []
        self.ended = False

    def begin(self, work: List[Dict[str, Any]]) -> List[Reason]:
        """Replays the candidate's operations while it was loaded."""
        answer = self._ask({"do": "replay", "before": [], "work": work, "arrays": [],
                            "addresses": {}, "first": False, "schedule": 0, "count": False}, [])[0]
        return self._refusal(answer, []) + \
            ([Reason("load", answer["error"])] if answer["error"] else [])

    def _ask(self, message: Dict[str, Any], blocks: List[bytes]) -> Any:
        try:
            answer, back = self.process.ask(message, blocks, answers.REPLAY)
        except Closed as error:
            raise ReplayEnded(self.process.how_it_ended()) from error
        for part in ("before", "work"):
            for text in texts_of(message[part]):
                if text not in self.ptx:
                    self.ptx.append(text)
        return answer, back

    def _refusal(self, answer: Dict[str, Any], libraries: List[str]) -> List[Reason]:
        self.ended = bool(answer["not_replayed"])
        if not self.ended:
            return []
        if libraries:
            return [Reason("library", f"it calls {', '.join(libraries)}, which computes on the "
                           "host; a task that allows libraries has library_calls=True")]
        return [Reason("not-replayed", "it has the device do " + answer["not_replayed"])]

    def play(self, call: Call, asked: Call, message: Dict[str, Any]) -> List[Reason]:
        """Replays the operations of `asked`, a call of the candidate, with the data of `call`,
        which receives the results of both."""
        theirs = asked.answer
        if theirs["error"]:
            call.take({**theirs, "outputs": []}, [])
            return []
        answer, blocks = self._ask({**message, "do": "replay", "before": theirs["before"],
                                    "work": theirs["work"], "addresses": theirs["addresses"]},
                                   call.blocks())
        seen = {_site(f) for f in answer["findings"]}
        unwritten = [f for f in answer["findings"] if f["kind"] == "uninitialised"]
        if any(KEPT in f["text"] for f in unwritten):
            for finding in unwritten:  # what was read there may have come anywhere
                finding["kind"] = "state-between-calls"
            unwritten[0]["text"] += "\nAn earlier call wrote what the candidate keeps. What a " \
                "call leaves, no later one may use."
        findings = answer["findings"] + [f for f in theirs["findings"] if _site(f) not in seen]
        call.take({**theirs, "error": answer["error"], "outputs": answer["outputs"],
                   "findings": findings, "counters": answer.get("counters", {}),
                   "kept": answer["kept"], "objects": max(answer["objects"], theirs["objects"]),
                   "operations": _operations(theirs)}, blocks)
        return self._refusal(answer, theirs["library_calls"])

    def of_host(self, call: Call, asked: Call) -> List[Reason]:
        """`call` has wrong results. If those of the candidate's process, for its own inputs, are
        right, its host code has computed them."""
        if asked is call or asked.answer["error"] or not asked.after:
            return []
        asked.expected = self.expected(asked)
        values = sum(np.unique(np.asarray(e.value)).size for e in asked.expected.values())
        if values < _MANY or of_results(asked, None):
            return []
        return [call.reason("host-results", "its process had the right results for its inputs, and "
                            "its launches, copies and fills do not give them in a clean process")]


def _site(finding: Dict[str, Any]) -> tuple:
    return finding.get("kind"), finding.get("kernel"), finding.get("ptx_line")


def _operations(theirs: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The requested operations, without kernels that appear in no launch, and with copies that
    appear in no call."""
    done = [_KINDS.get(e.get("do"), "") for e in theirs["work"]]
    found = [o for o in theirs["operations"] if o["kind"] != "kernel" or "kernel" in done]
    for kind in ("kernel", "copy"):
        if kind in done and not any(o["kind"] == kind for o in found):
            found.append({"kind": kind, "call": f"a {kind} that no call shows", "given": True})
    return found
