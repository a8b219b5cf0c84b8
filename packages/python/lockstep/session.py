"""The simulated GPU in this process: whether it is active, how to activate it, and its findings.

lockstep exec prepares a process before any of its code runs. So enable() restarts the process under
lockstep exec, with the same arguments: call it first, before anything that has an effect.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence

from lockstep.places import exec_program

if TYPE_CHECKING:  # the module's own imports take longer than the rest of a start
    from lockstep.findings import Finding, Report

# A process that enable() has started.
_STARTED = "LOCKSTEP_PYTHON_ENABLED"
_CUDA_LIBRARIES = ("libcuda.so", "libcudart.so", "libcudart-")


class NotEnabled(RuntimeError):
    """This process does not use the simulated GPU; the message states the remedy."""


def _symbol(name: str):
    try:
        return getattr(ctypes.CDLL(None), name)
    except AttributeError:
        return None


def is_enabled() -> bool:
    """Whether this process runs on the simulated GPU."""
    return _symbol("lockstepExtensionVersion") is not None


def _loaded_cuda() -> List[str]:
    """The CUDA libraries that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/") > 0}
    return sorted(p for p in paths if os.path.basename(p).startswith(_CUDA_LIBRARIES))


def options_of(device: str = "", checks: str = "", schedule: Optional[int] = None,
               memory: Optional[int] = None, quiet: bool = False) -> List[str]:
    """The options of lockstep exec for these settings; others have their defaults."""
    options = [f"--device={device}"] if device else []
    options += [f"--check={checks}"] if checks else []
    options += [f"--schedule={schedule}"] if schedule is not None else []
    options += [f"--memory={memory}"] if memory is not None else []
    return options + (["--quiet"] if quiet else [])


def enable(device: str = "", checks: str = "", schedule: Optional[int] = None,
           memory: Optional[int] = None, quiet: bool = False) -> None:
    """Puts this process on the simulated GPU. Returns at once if it already is.

    Otherwise the process restarts under `lockstep exec`, with its arguments and its environment,
    and this call does not return. Arguments: those of lockstep.run().

    Raises NotEnabled if a CUDA library is already loaded, or if the process cannot be restarted (an
    interactive interpreter, a notebook, a program on stdin).
    """
    if is_enabled():
        return
    loaded = _loaded_cuda()
    if loaded:
        raise NotEnabled("lockstep.enable() comes too late: CUDA is in use already (" +
                         ", ".join(loaded) + "). Call it before what imports or uses CUDA.")
    if os.environ.get(_STARTED):
        raise NotEnabled("lockstep exec has started this process, and the simulated GPU is not in "
                         "it: LD_PRELOAD was removed, or the interpreter is statically linked")
    words = list(sys.orig_argv) if hasattr(sys, "orig_argv") else _words_of_process()
    if hasattr(sys, "ps1") or sys.flags.interactive or len(words) < 2 or words[-1] == "-":
        raise NotEnabled("this interpreter is interactive, so it cannot be started anew: start it "
                         "with `lockstep exec -- python`")
    if "ipykernel" in sys.modules:
        raise NotEnabled("a notebook cannot be started anew: start the server with "
                         "`lockstep exec -- jupyter …`")
    restart(options_of(device, checks, schedule, memory, quiet), [sys.executable] + words[1:])


def _words_of_process() -> List[str]:
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(w) for w in file.read().split(b"\0")[:-1]]


def restart(options: Sequence[str], words: Sequence[str]) -> None:
    """Becomes `lockstep exec OPTIONS -- WORDS`. Does not return."""
    program = exec_program()
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ[_STARTED] = "1"
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, a program would inherit that
    os.execv(program, [program, "exec", *options, "--", *words])


def run(command: Sequence[str], device: str = "", checks: str = "",
        schedule: Optional[int] = None, memory: Optional[int] = None, quiet: bool = True,
        timeout: Optional[float] = None, env: Optional[Dict[str, str]] = None) -> Report:
    """Runs a program on the simulated GPU; its output is this process's.

    device: such as "sm_90". checks: as --check of lockstep exec, such as "all" or "races".
    schedule: a seed; 0 is the deterministic order. memory: GiB of the device.
    timeout: seconds, after which subprocess.TimeoutExpired is raised.
    Raises RuntimeError if nothing ran (no such program, wrong usage).
    """
    import subprocess  # not at the start of every process that takes findings
    import tempfile

    from lockstep.findings import read_report
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "report.json")
        options = options_of(device, checks, schedule, memory, quiet) + [f"--report={file}"]
        done = subprocess.run([exec_program(), "exec", *options, "--", *map(str, command)],
                              timeout=timeout, env=env)
        try:
            return read_report(file)
        except (OSError, ValueError) as error:
            raise RuntimeError(f"lockstep exec ran nothing and ended with {done.returncode}; its "
                               "stderr has the reason") from error


def _need(name: str):
    function = _symbol(name)
    if function is None:
        raise NotEnabled("this process is not on the simulated GPU: call lockstep.enable() first, "
                         "start it with `lockstep exec`, or run `pytest --lockstep`")
    return function


def take_raw_findings(wait: bool = True) -> List[Dict[str, Any]]:
    """As take_findings(), each as the fields of its JSON."""
    take = _need("lockstepTakeFindings")
    if wait:
        synchronise = _symbol("cudaDeviceSynchronize")
        if synchronise is not None:
            synchronise()
    take.restype = ctypes.c_void_p
    text = take()
    if not text:
        return []
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(text)


def take_findings(wait: bool = True) -> List[Finding]:
    """The findings since the last call. They no longer affect the exit status.

    wait: waits for the device first, because a kernel may not have run yet.
    """
    from lockstep.findings import Finding
    return [Finding.from_json(raw) for raw in take_raw_findings(wait)]


def clear_error() -> None:
    """Clears the error that a finding has left on the device, and keeps its memory."""
    _need("lockstepClearError")()


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """A block of code after which its findings are raised, as KernelFindings.

    Findings from before the block are dropped. After the block the device has no error.
    """
    from lockstep.findings import KernelFindings
    __tracebackhide__ = True  # pytest shows the block
    take_findings()
    clear_error()
    try:
        yield
    finally:
        errors = [f for f in take_findings() if f.is_error]
        clear_error()
        if errors:
            raise KernelFindings(errors)
