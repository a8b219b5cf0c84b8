"""PyTorch's own operators on the simulated GPU.

The operators' kernels are machine code, which the simulated GPU does not run. `lockstep exec` puts
this module on Python's path, and PyTorch loads it when PyTorch is imported (the entry point
`torch.backends`). For each operator that has a CUDA kernel, it registers a kernel that

1. copies the arguments from the simulated GPU to the host,
2. calls the operator's implementation for the processor,
3. copies the results back.

So a program's own kernels (Triton, extensions, CuPy, torch.compile) are simulated and checked,
while PyTorch's operators have the right values but are not checked. At the end one line names the
operators that ran on the host.

Allocations, views, fills with zero and copies of whole tensors are still calls of the CUDA runtime,
and matrix products are still calls of cuBLAS. TORCH_DEVICE_BACKEND_AUTOLOAD=0 (PyTorch's own
variable) disables this module: each such operator is then a `refused` finding.
"""

import atexit
import collections
import os
import sys

import torch

from lockstep_cells import CELLS

_counts = collections.Counter()
_native = {}  # kernels that were there before, by name
_library = None  # registrations end with it

# Operators that read or write no element with a kernel of their own, or that have a better
# implementation than the host's.
_KEPT = {
    "_local_scalar_dense",
    "_pin_memory",
    "empty",
    "empty_strided",
    "is_pinned",
    "is_set_to",
    "record_stream",
    "resize_",
    "set_",
}

# Operators that call cuBLAS, which is simulated as that of CUDA 13, with the checks of its calls.
_BY_CUBLAS = {
    "addmm",
    "addmm_",
    "addmv",
    "addmv_",
    "baddbmm",
    "baddbmm_",
    "bmm",
    "dot",
    "mm",
    "vdot",
}

# Operators that call cuFFT, which is simulated as well. A transform of real numbers fills in the
# other half of its spectrum with a machine-code kernel.
_BY_CUFFT = {"_fft_c2c", "_fft_c2r"}


# These store to every element of their first argument and read none.
_FILLS = {
    "bernoulli_",
    "cauchy_",
    "exponential_",
    "fill_",
    "geometric_",
    "log_normal_",
    "normal_",
    "random_",
    "uniform_",
}


class NoKernelError(RuntimeError):
    """An operator runs neither on the simulated GPU nor on the host."""


def _no_kernel(name, why):
    return NoKernelError(
        f"lockstep: {name} cannot run here: PyTorch has its CUDA kernel as machine code alone, and "
        f"{why}. Replace it with operators that have one, move its arguments to the CPU, or wrap "
        "the caller in torch.compile.")


def _extent(t):
    return 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))


def _dense(t):
    """Whether the elements fill a contiguous range of memory without overlap."""
    expected = 1
    for stride, n in sorted((s, n) for n, s in zip(t.shape, t.stride()) if n != 1):
        if stride != expected:
            return False
        expected *= n
    return True


def _copy(to, source):
    """Copies between host and device with equal shapes and strides, in one call of the runtime."""
    _native["aten::copy_"].call_boxed(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), to,
                                      source, False)


def _to_host(t):
    if t.numel() == 0:
        return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
    if not _dense(t):
        flat = t.as_strided((_extent(t),), (1,), t.storage_offset())
        return _to_host(flat).as_strided(t.shape, t.stride(), 0)
    host = torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
    _copy(host, t)
    return host


def _to_device(host, device):
    if not _dense(host):
        host = host.contiguous()
    made = torch.empty_strided(host.shape, host.stride(), dtype=host.dtype, device=device)
    if host.numel() != 0:
        _copy(made, host)
    return made


def _rows(t):
    """Contiguous pieces of a tensor: their length, and the tensor of their first elements."""
    for d in range(t.dim()):
        if t.stride(d) == 1 and t.size(d) > 1:
            return t.size(d), t.select(d, 0)
    return 1, t


def _write_back(t, host):
    """Stores an operator's changes of an argument in the argument's tensor."""
    if host.shape != t.shape:  # the operator has given its result another size
        t.resize_(host.shape)
    if t.numel() == 0:
        return
    if _dense(t):
        if host.stride() != t.stride():
            host = torch.empty_strided(t.shape, t.stride(), dtype=t.dtype).copy_(host)
        _copy(t, host)
        return
    # The bytes between the elements belong to other tensors: rows are copied one by one.
    length, first = _rows(t)
    flat = host.as_strided(t.shape, t.stride(), host.storage_offset()) \
        if host.stride() == t.stride() else host
    _, host_first = _rows(flat) if host.stride() == t.stride() else (0, None)
    if host_first is None:
        same = torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
        same.copy_(host)
        _, host_first = _rows(same)
    for to, source in zip(_offsets(first), _offsets(host_first)):
        _copy(t.as_strided((length,), (1,), to), host_first.as_strided((length,), (1,), source))


def _offsets(t):
    """The offsets of a tensor's elements in its storage."""
    places = [t.storage_offset()]
    for n, stride in zip(t.shape, t.stride()):
        places = [p + i * stride for p in places for i in range(n)]
    return places


class _Call:
    """One call's arguments on the host."""

    def __init__(self):
        self.device = None
        self.pairs = []  # a device's tensor, and the same on the host

    def take(self, value):
        if isinstance(value, torch.Tensor):
            if value.device.type != "cuda":
                return value
            self.device = self.device or value.device
            for t, host in self.pairs:
                if t is value:
                    return host
            host = _to_host(value)
            self.pairs.append((value, host))
            return host
        if isinstance(value, torch.device):
            if value.type != "cuda":
                return value
            self.device = self.device or value
            return torch.device("cpu")
        if isinstance(value, (list, tuple)):
            return type(value)(self.take(v) for v in value)
        return value

    def give(self, value):
        if isinstance(value, torch.Tensor):
            for t, host in self.pairs:
                if host is value:
                    return t
            return _to_device(value, self.device or torch.device("cuda"))
        if isinstance(value, (list, tuple)):
            return type(value)(self.give(v) for v in value)
        return value


def _random_seed(generator):
    """A seed for the host, derived from the CUDA generator's state; advances that state."""
    if generator is None:
        torch.cuda.init()
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
    offset = generator.get_offset()
    generator.set_offset(offset + 4)
    return (generator.initial_seed() * 0x9E3779B97F4A7C15 + offset) % (1 << 63)


def _is_random(op):
    return torch.Tag.nondeterministic_seeded in op.tags


def _call_with_numbers(op, args, kwargs):
    """Calls `op`, or another overload if `op` does not accept a number. PyTorch passes numbers to
    Python kernels where its own kernels get a tensor that represents the number."""
    try:
        return op(*args, **kwargs)
    except RuntimeError as error:
        if "Unable to cast" not in str(error):
            raise
        return op.overloadpacket(*args, **kwargs)


def _call_on_host(op, args, kwargs):
    if not _is_random(op):
        return _call_with_numbers(op, args, kwargs)
    given = kwargs.get("generator")
    if given is not None:
        kwargs["generator"] = None
    position = next((i for i, a in enumerate(op._schema.arguments) if a.name == "generator"), None)
    if position is not None and position < len(args) and not op._schema.arguments[
            position].kwarg_only:
        given, args = args[position], args[:position] + (None,) + args[position + 1:]
    before = torch.default_generator.get_state()
    torch.default_generator.manual_seed(_random_seed(given))
    try:
        return op(*args, **kwargs)
    finally:
        torch.default_generator.set_state(before)


def run_on_host(op, args, kwargs, compute=None):
    """Calls an operator's implementation for the processor, or `compute` instead, with arguments
    that are on the simulated GPU."""
    name = op._schema.name
    if torch.cuda.is_current_stream_capturing():
        raise NoKernelError(
            f"lockstep: {name} runs on the host, since PyTorch has its CUDA kernel as machine code "
            "alone, and a CUDA graph cannot hold it: capture your own kernels alone, or do not "
            "capture under Lockstep.")
    _counts[name] += 1
    call = _Call()
    for t in _only_written(op, args, kwargs):
        call.pairs.append((t, torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)))
        call.device = t.device
    host_args, host_kwargs = call.take(args), {k: call.take(v) for k, v in kwargs.items()}
    try:
        result = compute(*host_args, **host_kwargs) if compute else \
            _call_on_host(op, host_args, host_kwargs)
    except NotImplementedError as error:
        raise _no_kernel(name, "it has no implementation for the processor") from error
    for argument, value in _written(op, args, kwargs):
        for t, host in call.pairs:
            if t is value:
                _write_back(t, host)
    return call.give(result)


def _written(op, args, kwargs):
    """The tensors that an operator stores to."""
    for i, argument in enumerate(op._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[i] if i < len(args) else kwargs.get(argument.name)
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, torch.Tensor):
                yield argument, one


def _only_written(op, args, kwargs):
    """The device's tensors whose contents before the call are not used."""
    base = op._schema.name.partition("::")[2]
    written = list(_written(op, args, kwargs))
    read = {t.untyped_storage().data_ptr()
            for t in _tensors([args, list(kwargs.values())])
            if not any(t is w for _, w in written)}
    counts = collections.Counter(id(t) for t in _tensors([args, list(kwargs.values())]))
    for argument, t in written:
        if t.device.type == "cuda" and (argument.kwarg_only or base in _FILLS) and \
                counts[id(t)] == 1 and t.untyped_storage().data_ptr() not in read:
            yield t


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def _operator(name):
    space, rest = name.split("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), base), overload or "default")


def _on_host(name):
    op = None

    def kernel(*args, **kwargs):
        nonlocal op
        op = op or _operator(name)
        return run_on_host(op, args, kwargs, CELLS.get(name))

    return kernel


# ---- operators that need another form on the host


def _copy_kernel(to, source, non_blocking=False):
    """Copies whole tensors of one type with the runtime; converts all others on the host."""
    native = _native["aten::copy_"]
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
    across = to.device.type != source.device.type
    if across or (to.dtype == source.dtype and to.shape == source.shape and
                  to.stride() == source.stride() and _dense(to)):
        return native.call_boxed(keys, to, source, non_blocking)
    if to.numel() != 0:
        _counts["aten::copy_"] += 1
        host = _to_host(source)
        same = torch.empty_strided(to.shape, to.stride() if _dense(to) else None or
                                   torch.empty(to.shape, device="meta").stride(), dtype=to.dtype)
        _write_back(to, same.copy_(host))
    return to


def _zero_kernel(t):
    if t.numel() != 0:
        if _dense(t):  # cudaMemsetAsync
            flat = t.as_strided((t.numel(),), (1,), t.storage_offset())
            return (_native["aten::zero_"].call_boxed(
                torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), flat), t)[1]
        run_on_host(torch.ops.aten.zero_.default, (t,), {})
    return t


def _softmax_kernel(op):

    def kernel(t, dim, half_to_float):
        return run_on_host(op, (t.float() if half_to_float else t, dim, False), {})

    return kernel


# Sums over many elements: CUDA's kernels add 16-bit numbers up in 32 bits, the host's do not. With
# each, how many of its results have 16 bits again: all (None), or the first, since mean and
# deviation stay in 32 bits on a GPU.
_SUMS = {
    "aten::convolution_backward": None,
    "aten::embedding_dense_backward": None,
    "aten::native_batch_norm_backward": None,
    "aten::native_group_norm_backward": None,
    "aten::native_layer_norm": 1,
    "aten::native_layer_norm_backward": None,
}


def _sum_kernel(name):
    op = None

    def kernel(*args, **kwargs):
        nonlocal op
        op = op or _operator(name)
        short = {t.dtype for t in _tensors([args, list(kwargs.values())])}
        short &= {torch.float16, torch.bfloat16}
        if len(short) != 1:
            return run_on_host(op, args, kwargs)

        def long(value):
            return value.float() if isinstance(value, torch.Tensor) and value.dtype in short \
                else value

        results = run_on_host(op, tuple(map(long, args)), {k: long(v) for k, v in kwargs.items()})
        to = short.pop()
        if isinstance(results, torch.Tensor):
            return results.to(to)
        first = _SUMS[name] or len(results)
        return (*(r if r is None else r.to(to) for r in results[:first]), *results[first:])

    return kernel


def _register():
    global _library
    _library = torch.library.Library("aten", "IMPL")
    special = {
        "aten::copy_": _copy_kernel,
        "aten::zero_": _zero_kernel,
        "aten::_softmax": _softmax_kernel(torch.ops.aten._softmax.default),
        "aten::_log_softmax": _softmax_kernel(torch.ops.aten._log_softmax.default),
    }
    for name in ("aten::copy_", "aten::zero_"):
        _native[name] = torch.library.get_kernel(name, "CUDA")
    # These have one kernel for all devices, which selects an implementation for CUDA only.
    whole = ["aten::convolution", "aten::convolution_backward", "aten::copy_"]
    kept = _KEPT | _BY_CUBLAS | _BY_CUFFT if (torch.version.cuda or "").startswith("13.") else _KEPT
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        base = rest.partition(".")[0]
        if space != "aten" or base in kept or base.startswith("_nested"):
            continue
        if name not in whole:
            if not torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA"):
                continue
            if _is_view(name):
                continue
        make = _sum_kernel if name in _SUMS else _on_host
        _library.impl(rest, special.get(name) or make(name), "CUDA")


def _is_view(name):
    """Whether a result shares memory with an argument and the operator stores nothing."""
    schema = torch._C._get_schema(*(name.partition(".")[::2]))
    return any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)


def _report():
    if not _counts or os.environ.get("LOCKSTEP_QUIET") == "1":
        return
    most = ", ".join(f"{name.partition('::')[2]} ({n})" for name, n in _counts.most_common(6))
    more = "" if len(_counts) <= 6 else f" and {len(_counts) - 6} more"
    print(
        f"lockstep: PyTorch's own kernels are machine code: {sum(_counts.values())} calls of its "
        f"operators ran on the host, unchecked: {most}{more}",
        file=sys.stderr)


def load():
    """Called by PyTorch when it is imported."""
    if torch.version.cuda is None:
        return
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of each kernel that is replaced
        _register()
    # Convolution and attention, by operators that the host has too.
    torch.backends.cudnn.enabled = False
    for switch in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, switch, lambda on: None)(False)
    atexit.register(_report)
