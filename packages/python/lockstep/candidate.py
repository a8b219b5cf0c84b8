"""A candidate file: its kind, its device code, and the instructions in it."""

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List

from lockstep.compiler import NoCompiler, compile_host, compile_ptx
from lockstep.contract import Launch, Task
from lockstep.transcript import variables_of


class BadCandidate(ValueError):
    """The candidate cannot be loaded. `code` is the reason's code in a verdict."""

    def __init__(self, code: str, text: str):
        self.code = code
        super().__init__(text)


@dataclass
class Candidate:
    """kind: "kernel" (no host code), "host" (a shared library) or "python". files: the files for
    its process, by name. ptx: device code that is known before it runs."""

    path: str
    kind: str
    entry: str
    source: bytes
    files: Dict[str, bytes] = field(default_factory=dict)
    ptx: str = ""
    compiler: str = ""
    launch: Launch = field(default_factory=Launch)
    returns_status: bool = True

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.source).hexdigest()

    def load_message(self, task: Task) -> Dict[str, Any]:
        name = next(iter(self.files))
        return {"do": "load", "kind": self.kind, "file": name, "entry": self.entry,
                "variables": variables_of(self.ptx) if self.kind == "kernel" else [],
                "arrays": task.arrays, "returns_status": self.returns_status,
                "transcribes": self.is_replayed(task)}

    def is_replayed(self, task: Task) -> bool:
        """Whether the kernels run again in a process without its host code. Results that a library
        computes on the host cannot be replayed."""
        return self.kind != "kernel" and not task.library_calls


_LIBRARY = re.compile(
    r"undefined symbol: ((?:cublas|cudnn|cufft|curand|cusparse|cusolver|nccl)\w*)", re.IGNORECASE)


def library_symbol(text: str) -> str:
    """The missing function of an NVIDIA library, or ""."""
    found = _LIBRARY.search(text)
    return found.group(1) if found else ""


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


_LAUNCH = re.compile(r"//\s*lockstep:\s*(.*)")
_LAUNCH_WORD = re.compile(r"(grid|block|shared)=(\((?:[^()]|\([^()]*\))*\)|[^\s()]+)")


def _launch(text: str, usual: Launch) -> Launch:
    """The launch in the candidate's comment, otherwise the task's."""
    line = _LAUNCH.search(text)
    if line is None:
        return usual
    words = dict(_LAUNCH_WORD.findall(line.group(1)))
    rest = _LAUNCH_WORD.sub("", line.group(1)).strip()
    if rest or not words:
        raise BadCandidate("load", f"the line '// lockstep: {line.group(1)}' is not understood: it "
                           "has grid=(x,y,z), block=(x,y,z) and shared=bytes")

    def extents(word: str) -> tuple:
        inside = word[1:-1] if word.startswith("(") else word
        parts, depth, now = [], 0, ""
        for c in inside:
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                parts.append(now)
                now = ""
            else:
                now += c
        return tuple(p.strip() for p in parts + [now])
    return Launch(extents(words["grid"]) if "grid" in words else usual.grid,
                  extents(words["block"]) if "block" in words else usual.block,
                  words.get("shared", usual.shared))


def prepare(path: str, task: Task, entry: str = "", device: str = "sm_90") -> Candidate:
    """Reads and compiles a candidate. Raises BadCandidate, OSError, compiler.CompileError and
    compiler.NoCompiler."""
    with open(path, "rb") as file:
        source = file.read()
    entry = entry or task.entry
    ending = os.path.splitext(path)[1]
    text = source.decode("utf-8", errors="replace")
    if ending == ".py":
        return Candidate(path, "python", entry, source, {"candidate.py": source},
                         launch=task.launch)
    if ending == ".ptx":
        return _kernel(path, entry, source, text, "", _launch(text, task.launch))
    if ending != ".cu":
        raise BadCandidate("load", f"{path} is no .cu, .ptx or .py file")
    code = _without_comments(text)
    if re.search(r"__global__[^;{}]*?\b" + re.escape(entry) + r"\s*\(", code):
        made = compile_ptx(path, (), device)
        return _kernel(path, entry, source, made.ptx, made.compiler, _launch(text, task.launch))
    declared = re.search(r"\b(\w+)\s+" + re.escape(entry) + r"\s*\(", code)
    if declared is None:
        try:
            compile_ptx(path, (), device)  # the compiler may say why
        except NoCompiler:
            pass
        kernels = re.findall(r"__global__[^;{}]*?\b(\w+)\s*\(", code)
        raise BadCandidate("load", f"{path} has neither a kernel nor a function {entry}" +
                           (f"; its kernels: {', '.join(dict.fromkeys(kernels))}" if kernels
                            else ""))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "candidate.so")
        ptx = compile_host(path, out, device)
        with open(out, "rb") as file:
            library = file.read()
    return Candidate(path, "host", entry, source, {"candidate.so": library}, ptx, "nvcc",
                     task.launch, declared.group(1) != "void")


def _kernel(path: str, entry: str, source: bytes, ptx: str, compiler: str,
            launch: Launch) -> Candidate:
    found = re.findall(r"\.entry\s+([\w$%]+)", ptx)
    # A kernel of C++ has a mangled name, unless it is extern "C".
    names = [n for n in found if n == entry or
             re.match(rf"_Z{len(entry)}{re.escape(entry)}(?!\d)", n)]
    if len(names) != 1:
        raise BadCandidate("load", f"{path} has " + (f"{len(names)} kernels" if names else
                           "no kernel") + f" {entry}; it has " + (", ".join(found) or "none"))
    return Candidate(path, "kernel", names[0], source, {"candidate.ptx": ptx.encode()}, ptx,
                     compiler, launch)


_INSTRUCTION = re.compile(r"^\s*(?:@!?%?\w+\s+)?([a-z][\w.:]*(?:::\w+)*)[\s;]", re.MULTILINE)
_APPROXIMATE = re.compile(r"\.approx|\.full\b|^(tanh|ex2|lg2|sin|cos)\b")


def instructions(ptx: List[str]) -> Dict[str, List[str]]:
    """The instructions of PTX text by the exactness of the simulated GPU. exact: the result that
    PTX defines. approximate: within the manual's error, possibly with other bits than a GPU.
    matrix_unit: sums in the order and width measured on GPUs."""
    found = set()
    for text in ptx:
        for name in _INSTRUCTION.findall(_without_comments(text)):
            if name not in ("ret", "exit"):
                found.add(name)
    approximate = sorted(n for n in found if _APPROXIMATE.search(n))
    matrix = sorted(n for n in found if n.split(".")[0] in ("mma", "wgmma", "tcgen05") or
                    n.startswith("wmma.mma"))
    exact = sorted(found - set(approximate) - set(matrix))
    return {"exact": exact, "approximate": approximate, "matrix_unit": matrix}
