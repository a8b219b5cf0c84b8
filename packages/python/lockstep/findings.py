"""Findings and reports of the simulated GPU as objects."""

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union

Dim3 = Tuple[int, int, int]


def _dim3(value: Any) -> Dim3:
    x, y, z = (list(value or []) + [0, 0, 0])[:3]
    return int(x), int(y), int(z)


@dataclass(frozen=True)
class Access:
    """The other access of a race, or the source of an unwritten value."""

    file: str = ""
    line: int = 0
    block: Dim3 = (0, 0, 0)
    thread: Dim3 = (0, 0, 0)
    instruction: str = ""


@dataclass(frozen=True)
class Finding:
    """One finding of simulator/extension.h, with the most used fields as attributes.

    kind: such as "race", "out-of-bounds", "uninitialised" (docs/reference/checks.md).
    severity: "error" or "information".
    file, line: the source line of the instruction; "" and 0 without line information.
    text: the finding for display, several lines.
    raw: every field of the JSON.
    """

    kind: str
    severity: str
    text: str
    kernel: str = ""
    file: str = ""
    line: int = 0
    block: Dim3 = (0, 0, 0)
    thread: Dim3 = (0, 0, 0)
    instruction: str = ""
    occurrences: int = 1
    other: Optional[Access] = None
    raw: Dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    @property
    def place(self) -> str:
        """"file:line", or "" where the line is not known."""
        return f"{self.file}:{self.line}" if self.file and self.line else ""

    @staticmethod
    def from_json(raw: Dict[str, Any]) -> "Finding":
        other = raw.get("other") or raw.get("origin")
        return Finding(
            kind=raw.get("kind", ""), severity=raw.get("severity", "error"),
            text=raw.get("text", ""), kernel=raw.get("kernel", ""), file=raw.get("file", ""),
            line=int(raw.get("line", 0)), block=_dim3(raw.get("block")),
            thread=_dim3(raw.get("thread")), instruction=raw.get("instruction", ""),
            occurrences=int(raw.get("occurrences", 1)),
            other=None if not isinstance(other, dict) else Access(
                other.get("file", ""), int(other.get("line", 0)), _dim3(other.get("block")),
                _dim3(other.get("thread")), other.get("instruction", "")),
            raw=raw)


def findings_from_json(text: Union[str, bytes]) -> List[Finding]:
    """The findings of a JSON array, as lockstepTakeFindings returns it."""
    return [Finding.from_json(f) for f in json.loads(text)]


@dataclass(frozen=True)
class Report:
    """A report of `lockstep exec --report=FILE.json`.

    complete: False if a finding could not be recorded.
    kernels: launches by the kernel's name.
    """

    command: List[str]
    exit_status: int
    complete: bool
    device: str
    checks: str
    schedule: int
    kernels: Dict[str, int]
    findings: List[Finding]
    suppressed: List[Finding]

    @property
    def errors(self) -> List[Finding]:
        return [f for f in self.findings if f.is_error]


def read_report(path: "Union[str, os.PathLike]") -> Report:
    """Reads a JSON report of `lockstep exec`. Raises OSError or ValueError."""
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    if not isinstance(raw, dict) or "findings" not in raw or "exit_status" not in raw:
        raise ValueError(f"{path} is no report of lockstep exec")
    return Report(
        command=list(raw["command"]), exit_status=int(raw["exit_status"]),
        complete=bool(raw["complete"]), device=raw["device"], checks=raw["checks"],
        schedule=int(raw["schedule"]),
        kernels={k["name"]: int(k["launches"]) for k in raw["kernels"]},
        findings=[Finding.from_json(f) for f in raw["findings"]],
        suppressed=[Finding.from_json(f) for f in raw["suppressed"]])


class KernelFindings(AssertionError):
    """Findings that are errors; `findings` has them as objects."""

    def __init__(self, findings: List[Finding]):
        self.findings = list(findings)
        places = ", ".join(dict.fromkeys(f.place for f in findings if f.place))
        head = f"{len(findings)} finding{'s' if len(findings) != 1 else ''}"
        super().__init__(head + (f" at {places}" if places else "") + "\n" +
                         "\n".join(f.text for f in findings))
