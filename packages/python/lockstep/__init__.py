"""Lockstep for Python: CUDA kernels on a simulated GPU that checks every access.

enable() puts this process on the simulated GPU; run() runs another program there; findings are
objects. `pytest --lockstep` runs each test there. law() makes a test of a law from a function;
bound computes bounds of floating-point results. See docs/guide/judging_a_kernel.md and
docs/guide/python_clients.md.
"""

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from lockstep.places import NotInstalled, prefix
from lockstep.session import (NotEnabled, checked, clear_error, enable, is_enabled, run,
                              take_findings)

if TYPE_CHECKING:
    from lockstep.findings import (Access, Finding, KernelFindings, Report, findings_from_json,
                                   read_report)

__all__ = [
    "Access", "Array", "Finding", "KernelFindings", "NotEnabled", "NotInstalled", "Report",
    "array", "bound", "checked", "clear_error", "compile", "contract", "empty", "enable",
    "findings_from_json", "is_enabled", "law", "main", "prefix", "read_report", "run",
    "take_findings"
]

# Modules that need NumPy, Hypothesis or dataclasses are imported at their first use: the command
# and the process of a candidate need none of them. "": the name is a module.
_LATER = {"Array": "device", "array": "device", "empty": "device", "compile": "device",
          "law": "laws", "bound": "", "contract": "", "findings": "",
          "Access": "findings", "Finding": "findings", "KernelFindings": "findings",
          "Report": "findings", "findings_from_json": "findings", "read_report": "findings"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'lockstep' has no attribute '{name}'")
    import importlib
    module = importlib.import_module("lockstep." + (_LATER[name] or name))
    value = getattr(module, name) if _LATER[name] else module
    globals()[name] = value
    return value


def main() -> None:
    """The console script: becomes the command."""
    program = os.path.join(prefix(), "bin", "lockstep")
    # Python ignores SIGPIPE, and programs inherit that: `lockstep new x | head` would print errors.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.environ.setdefault("LOCKSTEP_PYTHON", sys.executable)
    os.execv(program, [program] + sys.argv[1:])
