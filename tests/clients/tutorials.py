"""Runs Triton's tutorials in small sizes and without benchmarks: only their checks of results.

A tutorial spends most of its time on benchmarks, whose times are meaningless here, and on dozens of
configurations of each kernel. This module omits the benchmarks; LOCKSTEP_CONFIGURATIONS omits most
configurations. `SMALL` holds sizes that a simulated GPU computes in a minute. The rest of the
tutorial is unchanged; its kernels are those published.
"""

import dataclasses
import pathlib
import re
import sys
import types


@dataclasses.dataclass(frozen=True)
class Small:
    texts: tuple = ()  # (published, instead): each published text must occur once
    tests: str = ".*"  # a regular expression that the names of pytest's tests to run have in them
    arguments: tuple = ((),)  # the tutorial runs once with each of these command lines
    device: str = ""  # the simulated device, if not the usual one


SMALL = {
    # -N_CTX-H-Z]: few columns with all heads, and more columns with few heads.
    "06-fused-attention.py": Small(tests=r"-(128-2-1|128-2-4|128-48-1|1024-2-1)\]"),
    "09-persistent-matmul.py": Small(texts=(
        ("validate(8192, 8192, args.K_range[0], dtype)",
         "validate(1280, 1024, args.K_range[0] // 4, dtype)"),
        # FP8: the bound is 1, a step of E4M3 up to 4, and cuBLASLt's sums are more exact than those
        # of an H100's wgmma.
        ("enabled=device_blas is not None", "enabled=dtype == torch.float16"),
        ('proton.start("matmul", hook="triton")', "raise SystemExit"),
    ), arguments=((), ("--prec", "fp8"))),
    "10-block-scaled-matmul.py": Small(texts=(
        ("validate_block_scaled(8192, 8192, 8192,", "validate_block_scaled(256, 512, 512,"),
        # Only a comparison: the simulated cuBLASLt has no block scaling.
        ('if cublas and block_scale_type in ["mxfp8", "nvfp4"]:', "if False:"),
        ("if args.bench:", "if False:"),
    ), arguments=tuple(("--format", f) for f in ("nvfp4", "mxfp4", "mxfp8", "mixed")),
        device="sm_100"),
}


def no_benchmarks():
    """Disables Triton's benchmarks, whose plots need further packages."""
    from triton import testing
    testing.Mark.run = lambda *arguments, **named: None


def text_of(script, small):
    """A tutorial's text in small sizes. ValueError: a published text does not occur once."""
    text = pathlib.Path(script).read_text()
    for published, instead in small.texts:
        if text.count(published) != 1:
            raise ValueError(f"{script}: {published!r} occurs {text.count(published)} times")
        text = text.replace(published, instead)
    return text


class _Watched:
    """An output stream that records whether a tutorial has printed that a result is wrong."""

    def __init__(self, stream):
        self.stream, self.wrong = stream, []

    def write(self, text):
        self.wrong += re.findall(r"[^\r\n]*❌[^\r\n]*", text)
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


def run(script, small):
    """Runs a tutorial as __main__. AssertionError: it printed that a result is wrong."""
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    sys.stdout = watched = _Watched(sys.stdout)
    try:
        exec(compile(text_of(script, small), script, "exec"), module.__dict__)
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.stdout = watched.stream
    assert not watched.wrong, "; ".join(w.strip() for w in watched.wrong)
