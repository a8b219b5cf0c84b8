"""Judging a candidate: cases, calls and the verdict. docs/guide/judging_a_kernel.md."""

import contextlib
import hashlib
import os
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from lockstep import answers, assessment
from lockstep.assessment import Call
from lockstep.bound import Bounded, exactly, ulps
from lockstep.candidate import BadCandidate, Candidate, library_symbol, prepare
from lockstep.cases import Case, make_case
from lockstep.compiler import CompileError
from lockstep.contract import BadTask, Scalar, Size, Task, dim3, evaluate
from lockstep.dtypes import decode, dtype
from lockstep.frames import Closed, Garbled, TimedOut
from lockstep.isolation import Limits
from lockstep.process import Process
from lockstep.reasons import Reason, Reasons
from lockstep.replay import Replay, ReplayEnded

SEAL_BROKEN = 94  # LOCKSTEP_EXIT_SEAL_BROKEN of simulator/extension.h
CALLS = 3  # per case: its inputs, others, and its inputs again
_DECOYS = 1000  # added to the number of a case's inputs, for the inputs that host code gets


@dataclass
class Settings:
    """cases: their number. seed: of all random values; None: a random seed. full: isolated."""

    cases: int = 12
    seed: Optional[int] = None
    device: str = "sm_90"
    entry: str = ""
    limits: Limits = field(default_factory=Limits)
    full: bool = True


@dataclass
class Judgement:
    """The result for a candidate, from which verdict.py makes the verdict. calls: every completed
    call. counters: sums over all calls."""

    task: Task
    settings: Settings
    seed: int
    candidate: Optional[Candidate] = None
    candidate_path: str = ""
    reasons: Reasons = field(default_factory=Reasons)
    calls: List[Call] = field(default_factory=list)
    right_cases: int = 0
    budget: float = 0.0
    ptx: List[str] = field(default_factory=list)
    seconds: Dict[str, float] = field(default_factory=dict)
    output: str = ""
    replayed: bool = False  # the results are those of a clean process
    schedules: List[int] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        return not self.reasons


def expected_results(task: Task, case: Case, inputs: Dict[str, np.ndarray],
                     scalars: Dict[str, Any], kernel: Any) -> Dict[str, Bounded]:
    """The reference's results by the output's name. Raises BadTask if the reference returns
    anything else."""
    outputs = [p for p in case.placed if p.array.role != "input"]
    if kernel is not None:
        return kernel(case, inputs, scalars)
    values: Dict[str, Any] = {n: decode(v, dtype(_array(case, n).dtype)) for n, v in inputs.items()}
    values.update(case.sizes)
    values.update(scalars)
    try:
        with np.errstate(all="ignore"):
            made = task.reference(**values)
    except BadTask:
        raise
    except Exception as error:
        raise BadTask(f"the reference raised {type(error).__name__}: {error} ({case.text()}). It "
                      f"gets {', '.join(values)} by name") from error
    if not isinstance(made, dict):
        made = {outputs[0].array.name: made}
    results: Dict[str, Bounded] = {}
    for placed in outputs:
        name = placed.array.name
        if name not in made:
            raise BadTask(f"the reference returns nothing for {name}")
        result = made[name] if isinstance(made[name], Bounded) else exactly(made[name])
        if np.shape(result.value) != placed.shape:
            raise BadTask(f"the reference's {name} has the shape {np.shape(result.value)}, and the "
                          f"contract's {placed.shape} ({case.text()})")
        results[name] = result
    return results


def _array(case: Case, name: str) -> Any:
    return next(p.array for p in case.placed if p.array.name == name)


def _poison(seed: Any, case: int, call: int) -> bytes:
    """8 bytes, different for each case; those of the last call complement the first's."""
    base = hashlib.sha256(f"{seed}/{case}/{1 if call == CALLS else call}".encode()).digest()[:8]
    return bytes(255 - b for b in base) if call == CALLS else base


def make_call(case: Case, number: int, schedule: int, reference: Any,
              decoy: bool = False) -> Call:
    """The data of a call; call CALLS has the inputs of call 1. decoy: has the same scalars and
    other inputs, without expected results."""
    inputs_of = 1 if number == CALLS else number
    inputs = case.inputs(inputs_of + (_DECOYS if decoy else 0))
    scalars = case.scalars(inputs_of)
    poison = _poison(f"{case.seed}/decoy" if decoy else case.seed, case.number, number)
    before = {}
    for placed in case.placed:
        name, kind = placed.array.name, dtype(placed.array.dtype)
        between = b"\xff" if kind.is_float else b"\xa5"  # a NaN
        if placed.array.role == "output":
            before[name] = placed.spread(
                np.frombuffer((poison * kind.size)[:kind.size] *
                              int(np.prod(placed.shape, dtype=np.int64)), kind.storage), between)
        else:
            before[name] = placed.spread(inputs[name], between)
    expected = {} if decoy else expected_results(case.task, case, inputs, scalars, reference)
    return Call(case, number, schedule, inputs, scalars, expected, before, poison)


def call_message(call: Call, candidate: Candidate) -> Dict[str, Any]:
    """The message by which a worker makes the call; its blocks are call.before in order."""
    case, sizes = call.case, call.case.sizes
    arguments: List[Dict[str, Any]] = []
    for a in case.task.arguments:
        if isinstance(a, Size):
            value = np.array(sizes[a.name], dtype(a.dtype).storage)
            arguments.append({"bytes": value.tobytes().hex(), "storage": value.dtype.str})
        elif isinstance(a, Scalar):
            value = np.array(call.scalars[a.name])
            arguments.append({"bytes": value.tobytes().hex(), "storage": value.dtype.str})
        else:
            arguments.append({"array": a.name})
    return {
        "do": "call", "first": call.number == 1, "schedule": call.schedule, "count": True,
        "arguments": arguments,
        "grid": dim3(candidate.launch.grid, sizes), "block": dim3(candidate.launch.block, sizes),
        "shared": evaluate(candidate.launch.shared, sizes),
        "arrays": [{"name": p.array.name, "shape": list(p.shape), "shares": p.shares,
                    "offset": p.offset, "storage": dtype(p.array.dtype).storage.str,
                    "stride": p.stride if len(p.shape) == 2 and p.stride != p.shape[1] else 0,
                    "poisoned": p.array.role == "output"} for p in case.placed],
    }


class _ReferenceKernel:
    """The results of a reference that is a kernel, from a separate process."""

    def __init__(self, task: Task, settings: Settings):
        self.task = task
        self.candidate = prepare(str(task.reference), task, "", settings.device)
        self.process = Process(self.candidate.files, [], settings.limits, False, True,
                               settings.device)
        answer, _ = self.process.ask({**self.candidate.load_message(task), "transcribes": False,
                                      "hidden": []})
        if answer["error"]:
            raise BadTask(f"the reference kernel: {answer['error']}")

    def __call__(self, case: Case, inputs: Dict[str, np.ndarray],
                 scalars: Dict[str, Any]) -> Dict[str, Bounded]:
        call = Call(case, 1, 0, inputs, scalars, {}, {}, b"\0" * 8)
        for p in case.placed:
            name = p.array.name
            call.before[name] = p.spread(inputs[name], b"\xff") if name in inputs else \
                np.zeros(p.elements, dtype(p.array.dtype).storage)
        answer, blocks = self.process.ask(call_message(call, self.candidate), call.blocks())
        call.take(answer, blocks)
        if answer["error"] or not call.after:
            raise BadTask(f"the reference kernel fails ({case.text()}): {answer['error']}")
        made = {}
        for placed in call.outputs():
            kind = dtype(placed.array.dtype)
            value = decode(call.result(placed), kind)
            made[placed.array.name] = ulps(value, self.task.ulps, kind) \
                if self.task.ulps and kind.is_float else exactly(value)
        return made

    def close(self) -> None:
        self.process.close()


def judge(task: Task, path: str, settings: Settings, hidden: Sequence[str] = ()) -> Judgement:
    """Judges the candidate in the file `path`. hidden: files that it may not read.

    Raises BadTask, isolation.NotIsolated, compiler.NoCompiler, and OSError for a candidate that
    cannot be read.
    """
    began = time.monotonic()
    seed = settings.seed if settings.seed is not None else secrets.randbits(48)
    judgement = Judgement(task, settings, seed, candidate_path=path)
    reference = None
    try:
        judgement.candidate = prepare(path, task, settings.entry, settings.device)
    except CompileError as error:
        judgement.reasons.add(Reason("compile", str(error)))
    except BadCandidate as error:
        judgement.reasons.add(Reason(error.code, str(error)))
    judgement.seconds["compile"] = time.monotonic() - began
    if judgement.candidate is not None:
        judgement.ptx = [judgement.candidate.ptx] if judgement.candidate.ptx else []
        started = time.monotonic()
        try:
            if isinstance(task.reference, str):
                try:
                    reference = _ReferenceKernel(task, settings)
                except (CompileError, BadCandidate, OSError) as error:
                    raise BadTask(f"the reference kernel: {error}") from error
            _run(judgement, reference, [os.path.realpath(h) for h in hidden])
        finally:
            if reference is not None:
                reference.close()
        judgement.seconds["run"] = time.monotonic() - started
    judgement.seconds["total"] = time.monotonic() - began
    return judgement


def _run(judgement: Judgement, reference: Any, hidden: List[str]) -> None:
    task, settings, candidate = judgement.task, judgement.settings, judgement.candidate
    may_compile = task.arrays != "lockstep"
    case_text = "when it was loaded"
    judgement.replayed = candidate.is_replayed(task)
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(Process(candidate.files, hidden, settings.limits,
                                              settings.full, may_compile, settings.device))
        replay = None
        if judgement.replayed:
            replay = Replay(stack.enter_context(Process({}, hidden, settings.limits, settings.full,
                                                        False, settings.device)),
                            lambda call: expected_results(task, call.case, call.inputs,
                                                          call.scalars, reference))
        try:
            answer, _ = process.ask({**candidate.load_message(task), "hidden": hidden},
                                    form=answers.LOAD)
            if answer["error"]:
                symbol = library_symbol(answer["error"])
                judgement.reasons.add(
                    Reason("library", f"it calls {symbol}, of a library of machine code")
                    if symbol else Reason("load", answer["error"]))
            for name in answer["exchanged"][:3]:
                judgement.reasons.add(
                    Reason("tampering", f"it exchanged {name} of the judge's worker"))
            for path in answer["reading"]:
                judgement.reasons.add(Reason("reads-the-task", f"it opened {path}"))
            if replay is not None and not judgement.reasons:
                judgement.reasons.add_all(replay.begin(answer["work"]))
            if not judgement.reasons:
                for number in range(settings.cases):
                    case = make_case(task, judgement.seed, number)
                    case_text = f"in {case.text()}"
                    _one_case(judgement, process, case, reference, replay)
                    if process.refused or (replay is not None and replay.ended):
                        break
                answer, _ = process.ask({"do": "end"}, form=answers.END)
                judgement.ptx += answer["ptx"]
            if replay is not None:
                judgement.ptx = replay.ptx or judgement.ptx
        except ReplayEnded as error:
            judgement.reasons.add(Reason(
                "crash", f"the clean process ended, {case_text}: {error}"))
        except Garbled:
            judgement.reasons.add(Reason(
                "tampering", f"{case_text}: its process sent what is no message"))
        except answers.Malformed as error:
            judgement.reasons.add(Reason("tampering", f"{case_text}: {error}"))
        except TimedOut:
            judgement.reasons.add(Reason(
                "time", f"it had not ended after {settings.limits.seconds:g} s, {case_text}"))
        except Closed:
            how = process.how_it_ended()
            last = process.heard().strip().splitlines()
            if how == f"exit status {SEAL_BROKEN}":
                judgement.reasons.add(Reason("tampering", f"{case_text}: " + next(
                    (line for line in reversed(last) if "sealed" in line), how)))
            elif not process.refused:
                judgement.reasons.add(Reason(
                    "crash", f"its process ended, {case_text}: {how}" +
                    ("\n" + "\n".join(last[-4:]) if last else "")))
        for refused in process.refused[:8]:
            judgement.reasons.add(Reason("forbidden-call", f"{refused} was refused", str(refused)))
        judgement.output = process.heard()
        judgement.reasons.rename(os.path.join(process.scratch, "candidate.py"), candidate.path)
        judgement.reasons.rename(process.scratch + "/", "")


def _one_case(judgement: Judgement, process: Process, case: Case, reference: Any,
              replay: Optional[Replay]) -> None:
    task, found, made = judgement.task, [], []
    for number in range(1, CALLS + 1):
        schedule = 0 if number == 1 else \
            int(np.random.default_rng([judgement.seed, case.number, number, 3]).integers(1, 2**31))
        call = make_call(case, number, schedule, reference)
        # The launches of host code that may copy to the host may depend on the inputs.
        asked = call if replay is None or task.host_copies else \
            make_call(case, number, 0, reference, decoy=True)
        answer, blocks = process.ask(call_message(asked, judgement.candidate), asked.blocks(),
                                     answers.CALL)
        asked.take(answer, blocks)
        if replay is not None:
            found += replay.play(call, asked, call_message(call, judgement.candidate))
        # The first call loads modules and permanent objects of frameworks.
        warm = bool(judgement.calls) or judgement.candidate.kind == "kernel"
        judgement.calls.append(call)
        if schedule not in judgement.schedules and len(judgement.schedules) < 8:
            judgement.schedules.append(schedule)
        found += assessment.of_process(call, task.host_copies, task.library_calls)
        found += assessment.of_objects(call, warm)
        wrong = assessment.of_results(call, made[-1] if made else None)
        if wrong and replay is not None:
            found += replay.of_host(call, asked)
        found += wrong
        made.append(call)
        for outcome in call.comparisons.values():
            judgement.budget = max(judgement.budget, outcome.budget)
        if replay is not None and replay.ended:
            break
    if len(made) == CALLS:
        found += assessment.of_pair(made[0], made[-1], task.deterministic)
    for reason in found:
        judgement.reasons.add(reason)
    judgement.right_cases += not found
