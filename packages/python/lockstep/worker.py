"""The process of a candidate: `python -m lockstep.worker DESCRIPTOR`, under lockstep exec.

Messages of frames.py name the code to load and the calls to make. It returns the outputs' bytes,
findings, requested operations and counters. It decides nothing.
"""

import contextlib
import ctypes
import gc
import json
import os
import socket
import sys
import types
from typing import Any, Dict, Iterator, List, Tuple

from lockstep import session
from lockstep.device import Array, CudaError, Memory, Stream, driver
from lockstep.frames import Closed, receive, send
from lockstep.isolation import limit_memory
from lockstep.kinds import CANDIDATES, SIMULATED_CALLS, Scalar, simulated_folder
from lockstep.transcript import NotReplayable, Player

_KINDS = {0: "kernel", 1: "copy", 2: "fill", 3: "other", 4: "failed call"}
# Libraries whose kernels are machine code, by the names of their files.
_LIBRARIES = ("libcublas", "libcudnn", "libcufft", "libcurand", "libcusparse", "libcusolver",
              "libnccl", "libnpp", "libcutensor", "libnvjpeg")


class _Operation(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("device", ctypes.c_int), ("captured", ctypes.c_int),
                ("error", ctypes.c_int), ("stream", ctypes.c_void_p), ("call", ctypes.c_char_p)]


class _Counters(ctypes.Structure):
    NAMES = ("launches", "warp_instructions", "thread_instructions", "global_load_requests",
             "global_load_sectors", "global_load_lines", "global_store_requests",
             "global_store_sectors", "global_store_lines", "shared_load_requests",
             "shared_load_bank_conflicts", "shared_store_requests",
             "shared_store_bank_conflicts", "shuffles", "votes", "atomics", "barriers")
    _fields_ = [("size", ctypes.c_size_t)] + [(n, ctypes.c_uint64) for n in NAMES]


class _Simulator:
    """The functions of simulator/extension.h that are used here."""

    def __init__(self):
        self._library = ctypes.CDLL(None)
        self._library.lockstepLiveObjects.restype = ctypes.c_size_t
        self._library.lockstepReadOperations.restype = ctypes.c_size_t
        self._library.lockstepTakeTranscript.restype = ctypes.c_void_p
        self._library.free.argtypes = [ctypes.c_void_p]

    def transcribe(self, on: bool) -> None:
        self._library.lockstepTranscribe(int(on))

    def transcript(self) -> List[Dict[str, Any]]:
        text = self._library.lockstepTakeTranscript()
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self._library.free(text)

    def place(self, address: int, size: int) -> bool:
        return self._library.lockstepPlaceMemory(ctypes.c_void_p(address),
                                                 ctypes.c_size_t(size)) == 0

    def place_next(self, address: int) -> None:
        self._library.lockstepPlaceNext(ctypes.c_void_p(address))

    def name_buffer(self, address: int, size: int, name: str) -> None:
        self._library.lockstepNameBuffer(ctypes.c_void_p(address), ctypes.c_size_t(size),
                                         name.encode())

    def mark_unwritten(self, address: int, size: int) -> None:
        if size:
            self._library.lockstepMarkUnwritten(ctypes.c_void_p(address), ctypes.c_size_t(size))

    def set_schedule(self, seed: int) -> None:
        self._library.lockstepSetSchedule(ctypes.c_uint64(seed))

    def watch(self, on: bool) -> None:
        self._library.lockstepWatchOperations(int(on))

    def operations(self) -> List[_Operation]:
        count = self._library.lockstepReadOperations(None, ctypes.c_size_t(0))
        room = (_Operation * max(count, 1))()
        self._library.lockstepReadOperations(room, ctypes.c_size_t(count))
        return list(room[:count])

    def live_objects(self) -> int:
        return self._library.lockstepLiveObjects()

    def reset_counters(self) -> None:
        self._library.lockstepResetCounters()

    @contextlib.contextmanager
    def sealed(self) -> Iterator[None]:
        """While the candidate's code runs: a call that changes checks, findings or the record of
        operations ends the process (SEAL_BROKEN)."""
        key = (int.from_bytes(os.urandom(8), "little") >> 1) + 1
        self._library.lockstepSeal(ctypes.c_uint64(key))
        try:
            yield
        finally:
            self._library.lockstepUnseal(ctypes.c_uint64(key))

    def counters(self) -> Dict[str, int]:
        read = _Counters(size=ctypes.sizeof(_Counters))
        self._library.lockstepReadCounters(ctypes.byref(read))
        return {name: getattr(read, name) for name in _Counters.NAMES}


def _code() -> Dict[Tuple[str, ...], Any]:
    """The code objects of this package's functions and classes, by name."""
    parts: Dict[Tuple[str, ...], Any] = {}

    def add(name: Tuple[str, ...], value: Any) -> None:
        if isinstance(value, (types.FunctionType, type, classmethod, staticmethod, property)):
            parts[name] = value
            parts[(*name, "code")] = getattr(value, "__code__", None)

    for name, module in list(sys.modules.items()):
        if name != "__main__" and name.partition(".")[0] != "lockstep":
            continue
        for key, value in list(vars(module).items()):
            add((name, key), value)
            if isinstance(value, type):
                for part, inside in list(vars(value).items()):
                    add((name, key, part), inside)
    return parts


def _exchanged(before: Dict[Tuple[str, ...], Any]) -> List[str]:
    """The names in `before` whose objects have changed."""
    now = _code()
    return sorted({".".join(n[:3]) for n, value in before.items() if now.get(n) is not value})


class Worker:
    """One candidate; see the module's docstring."""

    def __init__(self, control: socket.socket):
        self.control = control
        self.simulator = _Simulator()
        self.stream = Stream()
        self.candidate: Any = None
        self.memories: Dict[str, Memory] = {}
        self.hidden: List[str] = []
        self.seen_reading: List[str] = []
        self.code: Dict[Tuple[str, ...], Any] = {}
        self.transcribes = False  # what the candidate has done is given to another process
        self.player: Any = None  # this is that process

    def confine(self) -> None:
        from lockstep.system_calls import confine
        listener = confine()
        socket.send_fds(self.control, [b"L"], [listener])
        os.close(listener)

    def _audit(self, event: str, arguments: tuple) -> None:
        """Records a Python candidate that opens the task: the file is empty, and the call is a
        reason."""
        if event == "open" and isinstance(arguments[0], str):
            path = os.path.realpath(arguments[0])
            if path in self.hidden and path not in self.seen_reading:
                self.seen_reading.append(path)

    def load(self, what: Dict[str, Any]) -> Dict[str, Any]:
        self.hidden = what["hidden"]
        if what["kind"] == "python":
            import numpy  # noqa: F401: before the candidate's code, which may change anything
            _freeze()
            sys.addaudithook(self._audit)
        self.code = _code()
        self.transcribes = what.get("transcribes", False)
        self.simulator.transcribe(self.transcribes)
        try:
            with contextlib.redirect_stdout(sys.stderr), self.simulator.sealed():
                self.candidate = CANDIDATES[what["kind"]](what)
        except BaseException as error:
            return {"error": _say(error), **self._heard()}
        return {"error": "", **self._heard()}

    def _heard(self) -> Dict[str, Any]:
        return {"work": self.simulator.transcript() if self.transcribes else [],
                "findings": session.take_raw_findings(wait=False),
                "reading": self.seen_reading, "exchanged": _exchanged(self.code)}

    def _place(self, arrays: List[Dict[str, Any]], blocks: List[bytes],
               at: Dict[str, int]) -> Dict[str, Array]:
        """Fills the case's memory. On its first call, allocates it, or uses the address `at`."""
        made: Dict[str, Array] = {}
        for item, data in zip(arrays, blocks):
            owner = item["shares"] or item["name"]
            if owner not in self.memories:
                size = 256 + item["offset"] + len(data)
                self.memories[owner] = Memory(size, int(at[owner])) if at else Memory(size)
            memory, offset = self.memories[owner], item["offset"]
            if not item["shares"]:
                memory.write(data, offset)
            address = memory.address + offset
            if not item["shares"]:
                self.simulator.name_buffer(address, len(data), item["name"])
            kind, strides = item["storage"], None
            if item["stride"]:
                size = int(kind[2:])  # of an element: "<f4"
                strides = (item["stride"] * size, size)
            if item["poisoned"] and not item["shares"]:
                self.simulator.mark_unwritten(address, len(data))
            made[item["name"]] = Array(item["shape"], kind, memory, offset, strides)
        return made

    def _prepare(self, what: Dict[str, Any]) -> None:
        session.take_raw_findings()
        self.simulator.set_schedule(what["schedule"])
        if what["count"]:
            self.simulator.reset_counters()

    def _outputs(self, what: Dict[str, Any], blocks: List[bytes]) -> Tuple[List[str], List[bytes]]:
        """Names and bytes of the arrays, after the given stream's completed work alone."""
        names, back = [], []
        for item, data in zip(what["arrays"], blocks):
            if item["shares"]:
                continue
            memory = self.memories[item["name"]]
            try:
                back.append(memory.read(len(data), item["offset"], self.stream))
                names.append(item["name"])
            except CudaError:  # a kernel's error; the findings say which
                break
        return names, back

    def call(self, what: Dict[str, Any], blocks: List[bytes]) -> tuple:
        self.simulator.transcribe(False)  # not what this worker does
        if what["first"]:
            for memory in self.memories.values():
                memory.free()
            self.memories.clear()
        arrays = self._place(what["arrays"], blocks, {})
        arguments = [arrays[a["array"]] if "array" in a else
                     Scalar(bytes.fromhex(a["bytes"]), a["storage"])
                     for a in what["arguments"]]
        self._prepare(what)
        self.simulator.transcribe(self.transcribes)
        before = self.simulator.transcript() if self.transcribes else []
        state = self.candidate.state()
        gc.collect()
        alive = self.simulator.live_objects()
        error = ""
        self.simulator.watch(True)
        try:
            with contextlib.redirect_stdout(sys.stderr), self.simulator.sealed():
                self.candidate.call(arguments, what, self.stream)
        except CudaError as failure:
            error = _say(failure)
        except BaseException as failure:
            error = _say(failure)
        operations = self.simulator.operations()
        self.simulator.watch(False)
        outputs, blocks_back = self._outputs(what, blocks)
        work = self.simulator.transcript() if self.transcribes else []
        gc.collect()
        alive_now = self.simulator.live_objects()
        findings = session.take_raw_findings()
        session.clear_error()
        answer = {
            "error": error, "findings": findings, "reading": self.seen_reading,
            "exchanged": _exchanged(self.code),
            "outputs": outputs, "objects": alive_now - alive,
            "kept": [n for n, v in self.candidate.state().items() if v != state[n]],
            "operations": [{"kind": _KINDS.get(o.kind, "other"),
                            "call": (o.call or b"").decode(errors="replace"),
                            "given": (o.stream or 0) == (self.stream.handle.value or 0)}
                           for o in operations],
            "library_calls": sorted({o.call.decode() for o in operations
                                     if (o.call or b"").decode().startswith(SIMULATED_CALLS)}),
            "counters": self.simulator.counters() if what["count"] else {},
            "libraries": _machine_code(),
            "before": before, "work": work,
            "addresses": {name: memory.address for name, memory in self.memories.items()},
        }
        return answer, blocks_back

    def replay(self, what: Dict[str, Any], blocks: List[bytes]) -> tuple:
        """Replays a call that another process has transcribed, or its operations before the first
        call."""
        if self.player is None:
            self.player = Player(self.simulator, self.stream)
        error, outputs, back, kept, more = "", [], [], [], 0
        try:
            self.player.arrange(what["before"])
            if what["first"]:
                self.memories.clear()
            self._place(what["arrays"], blocks, what["addresses"])
            self.player.look(list(what["addresses"].values()))
            count = len(self.player.places)
            self._prepare(what)
            self.player.play(what["work"])
            more = len(self.player.places) - count
        except NotReplayable as failure:
            return {"error": "", "not_replayed": str(failure), "findings": [], "outputs": [],
                    "kept": [], "objects": 0}, []
        except CudaError as failure:
            error = _say(failure)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError,
                ctypes.ArgumentError) as failure:
            error = f"what its process has asked of the device is no program: {failure!r}"
        else:
            outputs, back = self._outputs(what, blocks)
        answer = {"error": error, "not_replayed": "", "outputs": outputs, "objects": more,
                  "findings": session.take_raw_findings(),
                  "counters": self.simulator.counters() if what["count"] else {}}
        session.clear_error()
        with contextlib.suppress(CudaError):
            kept = self.player.kept()
        session.take_raw_findings()
        answer["kept"] = kept
        return answer, back

    def end(self) -> Dict[str, Any]:
        """The PTX files that compilers left in the scratch folder."""
        texts, total = [], 0
        for folder, _, names in os.walk("."):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".ptx") and os.path.getsize(path) + total < (8 << 20):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        texts.append(file.read())
                    total += len(texts[-1])
        return {"ptx": texts}

    def serve(self) -> None:
        while True:
            what, blocks = receive(self.control)
            if what["do"] == "load":
                send(self.control, self.load(what))
            elif what["do"] == "call":
                answer, back = self.call(what, blocks)
                send(self.control, answer, back)
            elif what["do"] == "replay":
                answer, back = self.replay(what, blocks)
                send(self.control, answer, back)
            else:
                send(self.control, self.end())
                return


def _freeze() -> None:
    """call() collects garbage around each call of the candidate: its own objects, not those that
    there are now."""
    gc.collect()
    gc.freeze()


def _say(error: BaseException) -> str:
    at, step = "", error.__traceback__
    while step is not None:
        name = os.path.basename(step.tb_frame.f_code.co_filename)
        if name.startswith("candidate"):
            at = f" ({name}:{step.tb_lineno})"
        step = step.tb_next
    return f"{type(error).__name__}: {error}{at}"[:2000]


def _machine_code() -> List[str]:
    """NVIDIA's libraries in this process, and operators of PyTorch that ran on the host."""
    found = set()
    operators = getattr(sys.modules.get("lockstep_torch"), "_counts", {})
    found.update(f"PyTorch's {name.partition('::')[2] or name}" for name in operators)
    if "torch" in sys.modules or "cupy" in sys.modules:
        return sorted(found)  # they load them, used or not
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        text = maps.read()
    if any(name in text for name in _LIBRARIES):
        for line in text.splitlines():
            folder, name = os.path.split(line.rstrip().rsplit(" ", 1)[-1])
            if name.startswith(_LIBRARIES) and folder != simulated_folder():
                found.add(name)
    return sorted(found)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    driver()
    _freeze()
    worker = Worker(control)
    limit_memory(int(sys.argv[3]))
    if sys.argv[2] == "full":
        worker.confine()
    send(control, {"ready": True})
    try:
        worker.serve()
    except Closed:
        pass


if __name__ == "__main__":
    main()
