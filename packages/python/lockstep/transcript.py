"""Executes a transcript in a clean process: repeats the device operations of a candidate's process
with the driver API. simulator/extension.h (lockstepTakeTranscript) defines its format.

A transcript is from an untrusted process. It can only do what a program can: load PTX, launch, copy
and fill within device memory.
"""

import contextlib
import ctypes
import re
from typing import Any, Dict, List, Sequence, Tuple

from lockstep.device import CudaError, Memory, Module, Stream, driver
from lockstep.later import np

_JIT_INPUT_PTX = 1
_MAX_DYNAMIC_SHARED, _NON_PORTABLE_CLUSTER = 8, 14  # CUfunction_attribute
_CLUSTER, _COOPERATIVE, _PROGRAMMATIC = 4, 2, 6  # CUlaunchAttributeID
_PORTABLE_CLUSTER, _STATIC_LIMIT = 8, 48 << 10
_MOST_ROWS = 1 << 20
_MOST_LOOKED_AT = 64 << 20
KEPT = "memory that the candidate keeps"  # in findings
_END, _BUFFER, _SIZE = 0, 1, 2  # CU_LAUNCH_PARAM_*


class NotReplayable(RuntimeError):
    """An operation that transcripts do not support; the message names it."""


class _Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class _Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint)]


class _Linked:
    """Several texts, linked and loaded."""

    def __init__(self, texts: List[bytes]):
        state, image = ctypes.c_void_p(), ctypes.c_void_p()
        size = ctypes.c_size_t()
        driver().call("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))
        for text in texts:
            driver().call("cuLinkAddData_v2", state, _JIT_INPUT_PTX, text + b"\0",
                          ctypes.c_size_t(len(text) + 1), b"ptx", 0, None, None)
        driver().call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
        self.handle = ctypes.c_void_p()
        driver().call("cuModuleLoadData", ctypes.byref(self.handle), image)
        driver().call("cuLinkDestroy", state)


class Player:
    """Executes transcripts of one process, in their order, in one stream."""

    def __init__(self, simulator: Any, stream: Stream):
        self.simulator, self.stream = simulator, stream
        self.modules: Dict[int, Any] = {}
        self.functions: Dict[tuple, ctypes.c_void_p] = {}
        self.places: Dict[int, int] = {}  # sizes by address
        self.host_visible: Dict[int, str] = {}
        self.variables: List[Tuple[str, int, int]] = []  # name, address, size
        self._held: Dict[int, np.ndarray] = {}

    def look(self, arrays: Sequence[int]) -> None:
        """Records the contents of the candidate's own memory: its variables, and its allocations
        except `arrays`, the arguments of a call."""
        own = {base: size for base, size in self.places.items()
               if base not in arrays and base not in self.host_visible}
        own.update({address: size for _, address, size in self.variables})
        self._held = {}
        for base, size in own.items():
            if size <= _MOST_LOOKED_AT:
                self._held[base] = np.frombuffer(Memory(size, base).read(size), np.uint8)

    def kept(self) -> List[str]:
        """The variables that have changed since look(). Allocations that have changed count as
        unwritten from now on: a later call may use them, but not their contents."""
        names = {address: name for name, address, _ in self.variables}
        found = []
        for base, before in self._held.items():
            if base not in names and base not in self.places:
                continue  # freed
            now = np.frombuffer(Memory(before.size, base).read(before.size), np.uint8)
            changed = np.flatnonzero(now != before)
            if not changed.size:
                continue
            if base in names:
                found.append(names[base])
                continue
            self.simulator.name_buffer(base, before.size, KEPT)
            ends = np.flatnonzero(np.diff(changed) > 1)
            for first, last in zip(changed[np.r_[0, ends + 1]], changed[np.r_[ends, -1]]):
                self.simulator.mark_unwritten(base + int(first), int(last - first) + 1)
        return found

    def arrange(self, events: List[Dict[str, Any]]) -> None:
        """Executes only the changes of loaded code and of memory."""
        self.play([e for e in events if e["do"] in ("load", "place", "free")])

    def play(self, events: List[Dict[str, Any]]) -> None:
        """Raises NotReplayable and CudaError; KeyError and the like for an invalid transcript."""
        for event in events:
            act = getattr(self, "_do_" + str(event["do"]), None)
            if act is None:
                raise NotReplayable(f"an operation '{event['do']}'")
            act(event)

    def _do_load(self, event: Dict[str, Any]) -> None:
        texts = [bytes.fromhex(t).rstrip(b"\0") for t in event["texts"]]
        self.simulator.place_next(int(event["room"]))
        if len(texts) == 1:
            self.modules[event["module"]] = Module(texts[0].decode(errors="replace"))
        else:
            self.modules[event["module"]] = _Linked(texts)
        for name in {n for t in texts for n in variables_of(t.decode(errors="replace"))}:
            with contextlib.suppress(CudaError):  # static: of one text
                self.variables.append((name, *self._variable(event["module"], name)))

    def _variable(self, module: int, name: str) -> Tuple[int, int]:
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        driver().call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size),
                      self.modules[module].handle, name.encode())
        return address.value, size.value

    def _do_place(self, event: Dict[str, Any]) -> None:
        base, size = int(event["base"]), int(event["size"])
        if event["kind"] == "registered" or not self.simulator.place(base, size):
            self.host_visible[base] = event["kind"]
            return
        self.places[base] = size
        if event["kind"] != "device":
            self.host_visible[base] = event["kind"]
            self.simulator.name_buffer(base, size, f"{event['kind']} memory of the candidate, "
                                       "whose bytes no call has written")

    def _do_free(self, event: Dict[str, Any]) -> None:
        base = int(event["base"])
        self.host_visible.pop(base, None)
        if self.places.pop(base, 0):
            driver().call("cuMemFree_v2", ctypes.c_uint64(base))

    def _function(self, module: int, name: str) -> ctypes.c_void_p:
        if (module, name) not in self.functions:
            handle = ctypes.c_void_p()
            driver().call("cuModuleGetFunction", ctypes.byref(handle), self.modules[module].handle,
                          name.encode())
            self.functions[module, name] = handle
        return self.functions[module, name]

    def _do_launch(self, event: Dict[str, Any]) -> None:
        function = self._function(int(event["module"]), str(event["kernel"]))
        shared = int(event["shared"])
        if shared > _STATIC_LIMIT:
            driver().call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, shared)
        made = []
        if event.get("cluster"):
            x, y, z = (int(n) for n in event["cluster"])
            made.append(_Attribute(_CLUSTER, 0, (x, y, z)))
            if x * y * z > _PORTABLE_CLUSTER:
                driver().call("cuFuncSetAttribute", function, _NON_PORTABLE_CLUSTER, 1)
        made += [_Attribute(name, 0, (1,)) for name, wanted in
                 ((_COOPERATIVE, event["cooperative"]), (_PROGRAMMATIC, event["programmatic"]))
                 if wanted]
        attributes = (_Attribute * max(len(made), 1))(*made)
        config = _Config(tuple(map(int, event["grid"])), tuple(map(int, event["block"])), shared,
                         self.stream.handle, attributes, len(made))
        data = bytes.fromhex(event["parameters"])
        held, size = ctypes.create_string_buffer(data, max(len(data), 1)), \
            ctypes.c_size_t(len(data))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER, ctypes.cast(held, ctypes.c_void_p).value, _SIZE, ctypes.addressof(size), _END)
        driver().call("cuLaunchKernelEx", ctypes.byref(config), function, None, extra)

    @staticmethod
    def _rows(event: Dict[str, Any], *sides: str) -> Any:
        width, rows, slices = (int(n) for n in event["shape"])
        if rows * slices > _MOST_ROWS:
            raise NotReplayable(f"a copy or fill of {rows * slices} rows")
        for z in range(slices):
            for y in range(rows):
                yield (z * rows + y, width, *(at + z * slice_ + y * pitch for at, pitch, slice_ in
                                              (map(int, event[side]) for side in sides)))

    def _do_copy(self, event: Dict[str, Any]) -> None:
        for _, width, to, source in self._rows(event, "to", "from"):
            driver().call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source),
                          ctypes.c_size_t(width), self.stream.handle)

    def _do_write(self, event: Dict[str, Any]) -> None:
        data = bytes.fromhex(event["bytes"])
        for row, width, to in self._rows(event, "to"):
            driver().call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(to),
                          data[row * width:(row + 1) * width], ctypes.c_size_t(width),
                          self.stream.handle)

    def _do_fill(self, event: Dict[str, Any]) -> None:
        size, value = int(event["element"]), int(event["value"])
        name, kind = {1: ("cuMemsetD8Async", ctypes.c_ubyte), 2: ("cuMemsetD16Async",
                      ctypes.c_ushort), 4: ("cuMemsetD32Async", ctypes.c_uint)}[size]
        for _, width, to in self._rows(event, "to"):
            driver().call(name, ctypes.c_uint64(to), kind(value & ((1 << 8 * size) - 1)),
                          ctypes.c_size_t(width), self.stream.handle)

    def _do_read(self, event: Dict[str, Any]) -> None:
        """Nothing of the device changes."""

    def _do_library(self, event: Dict[str, Any]) -> None:
        raise NotReplayable(f"{event['call']}, which a library computes on the host")

    def _do_unsupported(self, event: Dict[str, Any]) -> None:
        raise NotReplayable(str(event["what"]))


def variables_of(ptx: str) -> List[str]:
    """Variables in global memory of a module."""
    return re.findall(r"^\s*(?:\.visible\s+|\.weak\s+)?\.global\s+(?:\.attribute\([^)]*\)\s*)?"
                      r"(?:\.align\s+\d+\s+)?(?:\.v[24]\s+)?\.\w+\s+([\w$%]+)", ptx, re.MULTILINE)


def texts_of(events: List[Dict[str, Any]]) -> List[str]:
    """The PTX that is loaded."""
    found = []
    for event in events:
        for text in event["texts"] if isinstance(event.get("texts"), list) else []:
            with contextlib.suppress(ValueError, TypeError):
                found.append(bytes.fromhex(text).decode(errors="replace").rstrip("\0"))
    return found
