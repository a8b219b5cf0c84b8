"""Isolation of a candidate's process, by the Linux kernel alone.

Full isolation consists of separate namespaces (user, mount, PID, network, IPC, UTS); read-only
mounts, except a scratch folder in memory; no capabilities, and no way to gain any; resource limits;
and a seccomp filter (confine()) whose refused calls are reported to the judge. enforced() lists it
for the receipt. Limits: a candidate can read files that its user may read, and its host code shares
a process with the simulated GPU. While that code runs, the functions that change the simulated GPU
are sealed (worker.py).
"""

import ctypes
import os
import resource
import signal
import struct
from typing import Dict, List, NamedTuple, Sequence

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_ALL = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_RECURSIVE, _ATTR_RDONLY, _ATTR_NOSUID = 442, 0x8000, 1, 2
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38


class NotIsolated(RuntimeError):
    """This system cannot isolate; the message names the step that failed."""


class Limits(NamedTuple):
    """seconds: of wall clock and of each processor. memory: GiB of host memory. scratch: MiB."""

    seconds: float = 60.0
    memory: int = 4
    scratch: int = 256


def enforced(full: bool, limits: Limits, may_compile: bool,
             replayed: bool = False) -> List[Dict[str, str]]:
    """The enforced rules, for the receipt. replayed: the host code is judged by a replay."""
    rows = [("time", f"{limits.seconds:g} s of wall clock, and of processor time (RLIMIT_CPU)"),
            ("memory", f"{limits.memory} GiB of private writable memory beside the simulated GPU's "
             "(RLIMIT_DATA), as much memory of the device"),
            ("file size", f"{limits.scratch} MiB a file (RLIMIT_FSIZE), no core (RLIMIT_CORE)")]
    if full:
        rows += [
            ("network", "a network namespace without interfaces; socket() is refused"),
            ("files", "every mount is read-only; a scratch folder of "
             f"{limits.scratch} MiB in memory" +
             ("" if may_compile else "; opening any file to write is refused")),
            ("task", "the files of task and reference read as empty"),
            ("processes", "a PID namespace, which ends with the verdict" +
             ("" if may_compile else "; fork and execve are refused")),
            ("privileges", "no capabilities, PR_SET_NO_NEW_PRIVS; ptrace, mount, bpf and other "
             "calls are refused by seccomp"),
        ]
    if replayed:
        rows.append(("host code", "its process got other inputs; its launches, copies and fills "
                     "computed the judged results in a clean process without it"))
    return [{"what": what, "how": how} for what, how in rows]


def _must(step: str, result: int) -> None:
    if result < 0:
        raise NotIsolated(f"{step}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _must(f"mount on {target}",
          _LIBC.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags),
                      data.encode() or None))


def _set_limits(limits: Limits) -> None:
    def limit(which: int, value: int) -> None:
        _, hard = resource.getrlimit(which)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, limits.scratch << 20)
    limit(resource.RLIMIT_CPU, int(limits.seconds * (os.cpu_count() or 1)) + 2)
    limit(resource.RLIMIT_NOFILE, 1024)


def limit_memory(gib: int) -> None:
    """Limits further allocations of this process. Call it after the simulated GPU has reserved its
    address space, which counts as private writable memory."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        now = next(int(line.split()[1]) for line in file if line.startswith("VmData:"))
    most = (now << 10) + (gib << 30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _enter_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    _must("unshare (user, mount, PID and network namespaces)", _LIBC.unshare(_NEW_ALL))
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"),
                       ("gid_map", f"1000 {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise NotIsolated(f"/proc/self/{name}: {error.strerror}") from error


def _arrange_files(scratch: str, hidden: Sequence[str], limits: Limits) -> None:
    _mount("none", "/", "none", _MS_REC | _MS_PRIVATE)
    for path in hidden:
        _mount("/dev/null", path, "none", _MS_BIND)
    attributes = struct.pack("QQQQ", _ATTR_RDONLY | _ATTR_NOSUID, 0, 0, 0)
    _must("read-only mounts (mount_setattr, Linux 5.12)",
          _LIBC.syscall(_MOUNT_SETATTR, -100, b"/", _AT_RECURSIVE, attributes, len(attributes)))
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV)
    _mount("tmpfs", scratch, "tmpfs", _MS_NOSUID | _MS_NODEV,
           f"size={limits.scratch}m,mode=700,uid=1000,gid=1000")


def spawn(command: Sequence[str], environment: Dict[str, str], scratch: str,
          files: Dict[str, bytes], hidden: Sequence[str], limits: Limits, full: bool,
          output: int, keep: Sequence[int]) -> int:
    """Starts the command in isolation. Returns the PID of its guard; killing the guard ends all.

    scratch: an empty folder for the command, which then contains `files` by name.
    output: a descriptor for stdout and stderr. keep: descriptors that stay open. A step that fails
    is one line, "not isolated: …", on `output`, and the guard ends with 125.
    """
    guard = os.fork()
    if guard:
        return guard
    status = 125
    try:
        os.setsid()
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if full:
            _enter_namespaces()
        child = os.fork()
        if child == 0:
            _become(command, environment, scratch, files, hidden, limits, full, output, keep)
        _, ended = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(ended)
        status = 128 - status if status < 0 else status
    except BaseException as error:  # nothing may return into the judge's code
        os.write(output, f"not isolated: {error}\n".encode())
    finally:
        os._exit(status)


def _become(command: Sequence[str], environment: Dict[str, str], scratch: str,
            files: Dict[str, bytes], hidden: Sequence[str], limits: Limits, full: bool,
            output: int, keep: Sequence[int]) -> None:
    try:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if full:
            _arrange_files(scratch, hidden, limits)
        for name, data in files.items():
            with open(os.path.join(scratch, name), "wb") as file:
                file.write(data)
        os.chdir(scratch)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for descriptor in keep:
            os.set_inheritable(descriptor, True)
        _set_limits(limits)
        _must("PR_SET_NO_NEW_PRIVS", _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        os.execve(command[0], list(command), environment)
    except BaseException as error:
        os.write(output, f"not isolated: {error}\n".encode())
    finally:
        os._exit(125)
