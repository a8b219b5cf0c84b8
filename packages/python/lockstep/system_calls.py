"""The seccomp filter of a candidate's process, and the judge's side of it.

A refused call is not executed. The kernel passes it to the judge (SECCOMP_RET_USER_NOTIF), which
records it and returns EPERM; file calls that a compiler needs in the scratch folder are permitted.
x86-64 alone.
"""

import ctypes
import fcntl
import os
import struct
from dataclasses import dataclass
from typing import List, Optional

_LIBC = ctypes.CDLL(None, use_errno=True)
_SYS_SECCOMP, _SET_MODE_FILTER = 317, 1
_TSYNC, _NEW_LISTENER, _TSYNC_ESRCH = 1, 8, 16
_ALLOW, _NOTIFY, _ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_ENOSYS, _EPERM = 38, 1
_CLONE_THREAD = 0x10000

_OPENS = {2: ("open", 1), 257: ("openat", 2)}  # with the argument that has the flags
# Calls that change files, with the argument that has the path.
_CHANGES = {76: ("truncate", 0), 82: ("rename", 0), 83: ("mkdir", 0), 84: ("rmdir", 0),
            85: ("creat", 0), 86: ("link", 1), 87: ("unlink", 0), 88: ("symlink", 1),
            133: ("mknod", 0), 258: ("mkdirat", 1), 259: ("mknodat", 1), 263: ("unlinkat", 1),
            264: ("renameat", 1), 265: ("linkat", 3), 266: ("symlinkat", 2),
            316: ("renameat2", 1), 437: ("openat2", 1)}
_PROCESSES = {57: "fork", 58: "vfork", 59: "execve", 322: "execveat"}
_CLONE = 56
_NEVER = {41: "socket", 53: "socketpair", 101: "ptrace", 155: "pivot_root", 161: "chroot",
          165: "mount", 166: "umount2", 169: "reboot", 175: "init_module", 246: "kexec_load",
          248: "add_key", 250: "keyctl", 272: "unshare", 298: "perf_event_open",
          304: "open_by_handle_at", 308: "setns", 310: "process_vm_readv",
          311: "process_vm_writev", 313: "finit_module", 321: "bpf", 323: "userfaultfd",
          425: "io_uring_setup", 438: "pidfd_getfd", 442: "mount_setattr"}
_CLONE3 = 435


def _operation(code: int, k: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, k)


def _program() -> bytes:
    load, equal, any_bit, back = 0x20, 0x15, 0x45, 0x06
    out = [_operation(load, 4), _operation(equal, 0xC000003E, 1, 0),
           _operation(back, _ERRNO | _ENOSYS), _operation(load, 0)]
    for number, (_, argument) in _OPENS.items():
        out += [_operation(equal, number, 0, 4), _operation(load, 16 + 8 * argument),
                _operation(any_bit, _WRITES, 0, 1), _operation(back, _NOTIFY),
                _operation(back, _ALLOW)]
    out += [_operation(equal, _CLONE, 0, 4), _operation(load, 16),
            _operation(any_bit, _CLONE_THREAD, 1, 0), _operation(back, _NOTIFY),
            _operation(back, _ALLOW)]
    # Its flags are in memory, which a filter cannot read: the C library then calls clone.
    out += [_operation(equal, _CLONE3, 0, 1), _operation(back, _ERRNO | _ENOSYS)]
    for number in (*_CHANGES, *_PROCESSES, *_NEVER):
        out += [_operation(equal, number, 0, 1), _operation(back, _NOTIFY)]
    # The 32-bit calls of x32 have other numbers.
    out += [_operation(0x35, 0x40000000, 0, 1), _operation(back, _ERRNO | _ENOSYS)]
    return b"".join(out + [_operation(back, _ALLOW)])


def confine() -> int:
    """Installs the filter permanently for every thread of this process. Returns the descriptor on
    which the judge receives refused calls; the process must close it. Raises OSError."""
    _LIBC.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    code = _program()
    held = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held))
    listener = _LIBC.syscall(_SYS_SECCOMP, _SET_MODE_FILTER,
                             _NEW_LISTENER | _TSYNC | _TSYNC_ESRCH, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp: " + os.strerror(ctypes.get_errno()))
    return listener


@dataclass(frozen=True)
class Refused:
    """A refused call: its name, and the path or program in its arguments."""

    call: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.call}({self.path})"


class Listener:
    """The judge's side. may_compile: permits processes, and files in `scratch`."""

    def __init__(self, descriptor: int, scratch: str, may_compile: bool):
        self.descriptor, self.scratch = descriptor, scratch
        self.may_compile = may_compile
        self.refused: List[Refused] = []

    def close(self) -> None:
        os.close(self.descriptor)

    def answer(self) -> None:
        """Responds to one waiting call."""
        request = bytearray(80)
        try:
            fcntl.ioctl(self.descriptor, _RECEIVE, request)
        except OSError:  # the process has ended
            return
        identity, process, _ = struct.unpack_from("QII", request)
        number = struct.unpack_from("i", request, 16)[0]
        arguments = struct.unpack_from("6Q", request, 32)
        found = self._look(process, number, arguments)
        if found is None:
            response = struct.pack("QqiI", identity, 0, 0, _CONTINUE)
        else:
            if found not in self.refused:
                self.refused.append(found)
            response = struct.pack("QqiI", identity, 0, -_EPERM, 0)
        try:
            fcntl.ioctl(self.descriptor, _SEND, response)
        except OSError:
            return

    def _look(self, process: int, number: int, arguments: tuple) -> Optional[Refused]:
        """None: the call is permitted. Mounts are read-only, so a path that changes after this
        check gains nothing."""
        if number in _NEVER:
            return Refused(_NEVER[number])
        if number == _CLONE:
            return None if self.may_compile else Refused("fork")
        if number in _PROCESSES:
            path = "" if number in (57, 58) else \
                _path(process, arguments[1 if number == 322 else 0])
            return None if self.may_compile else Refused(_PROCESSES[number], path)
        name, which = _CHANGES[number] if number in _CHANGES else \
            (_OPENS[number][0], 1 if number == 257 else 0)
        path = _path(process, arguments[which])
        if not path.startswith("/"):
            path = os.path.join(_working_folder(process), path)
        path = os.path.normpath(path)
        if path in ("/dev/null", "/dev/tty", "/dev/zero"):
            return None
        inside = path == self.scratch or path.startswith(self.scratch + "/")
        return None if inside and self.may_compile else Refused(name, path)


def _path(process: int, address: int) -> str:
    try:
        with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            data = memory.read(4096 - address % 4096)
            if b"\0" not in data:
                data += memory.read(4096)
    except OSError:
        return "?"
    return os.fsdecode(data.split(b"\0", 1)[0])


def _working_folder(process: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/cwd")
    except OSError:
        return "/"
