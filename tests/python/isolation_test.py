#!/usr/bin/python3
"""The isolation of a candidate: each forbidden attempt, made inside, must fail."""

import os
import sys

import pytest

from lockstep.isolation import Limits
from lockstep.process import Process

_HEAD = "import ctypes, os, resource, socket, subprocess, sys\nlibc = ctypes.CDLL(None)\n"


def said(code, hidden=(), may_compile=False, limits=Limits(30, 1), full=True):
    """Runs `code` in a candidate's process. Returns its `out` and the refused system calls."""
    source = _HEAD + code + "\nraise SystemExit(repr(out))\n"
    with Process({"candidate.py": source.encode()}, list(hidden), limits, full, may_compile,
                 "sm_90") as process:
        answer, _ = process.ask({
            "do": "load", "kind": "python", "file": "candidate.py", "entry": "f",
            "arrays": "lockstep", "hidden": [], "variables": [], "returns_status": False})
        assert answer["error"].startswith("SystemExit: "), answer["error"]
        return answer["error"][len("SystemExit: "):].partition(" (candidate")[0], \
            [str(r) for r in process.refused]


def test_it_has_no_capabilities_and_gains_none():
    out, _ = said("lines = open('/proc/self/status').read().splitlines()\n"
                  "keys = 'CapEff', 'CapPrm', 'CapAmb', 'NoNewPrivs', 'Seccomp:'\n"
                  "out = [l.split()[1] for l in lines if l.startswith(keys)]")
    assert out == "['0000000000000000', '0000000000000000', '0000000000000000', '1', '2']"


def test_it_sees_its_own_processes_alone():
    out, _ = said("pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]\n"
                  "out = max(pids) < 50, os.getppid()")
    assert out in ("(True, 1)", "(True, 2)")


def test_it_has_no_network():
    out, refused = said("try: out = socket.socket()\nexcept OSError as e: out = e.errno")
    assert (out, refused) == ("1", ["socket()"])
    # The namespace has no other network interface.
    out, _ = said("out = sorted(l.split(':')[0].strip() for l in open('/proc/self/net/dev')"
                  " if ':' in l)")
    assert out in ("['lo']", "[]")


@pytest.mark.parametrize("call", [
    "open('/tmp/lockstep-x', 'w')", "open('here', 'w')", "os.mkdir('/tmp/lockstep-x')",
    "os.unlink('/etc/passwd')", "os.rename('/etc/passwd', '/etc/passwd2')",
    "os.open('/etc/passwd', os.O_RDWR)", "os.fork()", "subprocess.run(['/bin/true'])",
    "os.execv('/bin/true', ['true'])",
])
def test_files_and_processes_are_refused(call):
    out, refused = said(f"try: out = {call}\nexcept OSError as e: out = e.errno")
    assert out == "1" and refused, (out, refused)


def test_the_mounts_are_read_only_where_files_may_be_written(tmp_path):
    """A candidate that may compile can write files to the scratch folder only."""
    target = tmp_path / "x"
    out, refused = said(
        "open('here', 'w').write('x')\nsubprocess.run(['/bin/true'], check=True)\n"
        f"try: out = open({str(target)!r}, 'w')\nexcept OSError as e: out = e.errno", (), True)
    assert out == "1" and refused == [f"openat({target})"]
    # By a call that the filter does not check: the mount refuses it.
    out, _ = said(f"out = libc.chmod({str(tmp_path).encode()!r}, 0o777), ctypes.get_errno()\n"
                  f"out = os.access({str(tmp_path)!r}, os.W_OK)", (), True)
    assert out == "False"
    assert not target.exists()


@pytest.mark.parametrize("call, name", [
    ("libc.unshare(0x10000000)", "unshare"), ("libc.mount(b'x', b'/', b'tmpfs', 0, None)", "mount"),
    ("libc.ptrace(16, 1, 0, 0)", "ptrace"), ("libc.setns(0, 0)", "setns"),
    ("libc.process_vm_writev(1, None, 0, None, 0, 0)", "process_vm_writev"),
    ("libc.syscall(425, 1, None)", "io_uring_setup"), ("libc.syscall(321, 0, None, 0)", "bpf"),
])
def test_privileged_calls_are_refused(call, name):
    out, refused = said(f"out = {call}")
    assert (out, refused) == ("-1", [f"{name}()"])


def test_the_task_reads_as_empty(tmp_path):
    task = tmp_path / "task.py"
    task.write_text("secret")
    assert said(f"out = open({str(task)!r}).read()", [str(task)])[0] == "''"
    assert task.read_text() == "secret"


def test_the_environment_is_not_handed_over():
    os.environ["LOCKSTEP_TEST_SECRET"] = "x"
    assert said("out = 'LOCKSTEP_TEST_SECRET' in os.environ")[0] == "False"


def test_memory_is_limited():
    out, _ = said("try: out = len(bytes(2 << 30))\nexcept MemoryError: out = 'none'")
    assert out == "'none'"
    assert said("out = len(bytes(1 << 28))")[0] == str(1 << 28)


def test_nothing_is_left_behind():
    with Process({"candidate.py": b""}, [], Limits(30, 1), True, False, "sm_90") as process:
        guard, scratch = process.guard, process.scratch
        assert os.path.isdir(scratch)
    assert not os.path.exists(scratch)
    with pytest.raises(ProcessLookupError):
        os.kill(guard, 0)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
