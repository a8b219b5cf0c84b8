"""The judge's side of a candidate's process: starts it, exchanges messages, and ends it."""

import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Sequence

from lockstep.answers import check
from lockstep.frames import Closed, Message, receive, send
from lockstep.isolation import Limits, NotIsolated, spawn
from lockstep.places import exec_program, package_root
from lockstep.session import options_of
from lockstep.system_calls import Listener, Refused


class Process:
    """A candidate's process. Use it in a with statement.

    hidden: files that read as empty. may_compile: whether it may start processes and write into its
    scratch folder. The first ask() raises NotIsolated, or Closed if the worker does not start.
    """

    def __init__(self, files: Dict[str, bytes], hidden: Sequence[str], limits: Limits, full: bool,
                 may_compile: bool, device: str):
        self.limits, self.full = limits, full
        self.deadline = time.monotonic() + limits.seconds
        self.scratch = tempfile.mkdtemp(prefix="lockstep-judge-")
        self.output = tempfile.TemporaryFile()
        self.listener: Optional[Listener] = None
        ours, theirs = socket.socketpair()
        self.control = ours
        command = [exec_program(), "exec",
                   *options_of(device, memory=limits.memory, quiet=True), "--",
                   sys.executable, "-m", "lockstep.worker", str(theirs.fileno()),
                   "full" if full else "off", str(limits.memory)]
        # No variable may contain a path outside of the mounts; caches are in the scratch folder.
        environment = {k: v for k, v in os.environ.items()
                       if k in ("PATH", "LANG", "LC_ALL", "CUDA_HOME", "CUDA_PATH", "HOME",
                                "LOCKSTEP_TOOL_EXEC", "VIRTUAL_ENV", "LD_LIBRARY_PATH")}
        environment.update(PYTHONPATH=package_root(), TMPDIR=self.scratch, HOME=self.scratch,
                           PYTHONDONTWRITEBYTECODE="1", LOCKSTEP_CHECKS="all", LOCKSTEP_COUNT="1",
                           OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.guard = spawn(command, environment, self.scratch, files, hidden, limits, full,
                           self.output.fileno(), [theirs.fileno()])
        theirs.close()
        self.may_compile = may_compile
        self._is_ready = False

    def _get_ready(self) -> None:
        """Waits for the worker."""
        self._is_ready = True
        try:
            if self.full:
                self._take_listener(self.may_compile)
            receive(self.control, self.deadline, self._wait)
        except BaseException:
            text = self.heard()
            self.close()
            if "not isolated: " in text:
                raise NotIsolated(text.partition("not isolated: ")[2].splitlines()[0]) from None
            raise Closed("the candidate's process did not start: " + text[-1000:]) from None

    def _take_listener(self, may_compile: bool) -> None:
        self.control.settimeout(max(0.1, self.deadline - time.monotonic()))
        _, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
        if not descriptors:
            raise Closed("no listener")
        self.listener = Listener(descriptors[0], self.scratch, may_compile)

    def _wait(self, seconds: float) -> None:
        """Waits until the control socket is readable; responds to refused calls meanwhile."""
        end = time.monotonic() + seconds
        while True:
            watched = [self.control] + ([self.listener.descriptor] if self.listener else [])
            ready, _, _ = select.select(watched, [], [], max(0.0, end - time.monotonic()))
            if self.listener and self.listener.descriptor in ready:
                self.listener.answer()
            if not ready or self.control in ready:
                return

    def ask(self, what: Dict[str, Any], blocks: Sequence[bytes] = (),
            form: Optional[Dict[str, Any]] = None) -> Message:
        """Sends a message and returns the answer, of this form. Raises Closed, TimedOut,
        answers.Malformed."""
        if not self._is_ready:
            self._get_ready()
        self.control.settimeout(max(0.1, self.deadline - time.monotonic()))
        send(self.control, what, blocks)
        answer, back = receive(self.control, self.deadline, self._wait)
        if form is not None:
            check(answer, form)
        return answer, back

    @property
    def refused(self) -> List[Refused]:
        return self.listener.refused if self.listener else []

    def heard(self) -> str:
        """What the process has printed, the last 4000 characters."""
        size = os.fstat(self.output.fileno()).st_size
        data = os.pread(self.output.fileno(), 4000, max(0, size - 4000))
        return data.decode(errors="replace")

    def how_it_ended(self) -> str:
        """Waits a moment for the end. Returns "signal SIGSEGV" or "exit status 1"."""
        for _ in range(40):
            done, status = os.waitpid(self.guard, os.WNOHANG)
            if done:
                self.guard = 0
                code = os.waitstatus_to_exitcode(status)
                if code > 128:
                    try:
                        return f"signal {signal.Signals(code - 128).name}"
                    except ValueError:
                        pass
                return f"exit status {code}"
            time.sleep(0.05)
        return "it did not end"

    def close(self) -> None:
        """Ends the process and all that it has started."""
        if self.guard:
            for kill in (lambda: os.killpg(self.guard, signal.SIGKILL),
                         lambda: os.kill(self.guard, signal.SIGKILL)):
                try:
                    kill()
                except ProcessLookupError:
                    pass
            os.waitpid(self.guard, 0)
            self.guard = 0
        self.control.close()
        if self.listener:
            self.listener.close()
            self.listener = None
        self.output.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
