"""Triton's tutorials as far as they check results: without their benchmarks, and in small sizes.

Most of a tutorial's time goes into benchmarks, whose times mean nothing here, and into dozens of
configurations of a kernel. This leaves out the former and most of the latter. `SMALL` has sizes
that a simulated GPU computes in a minute. A tutorial's text is not changed otherwise, and its
kernels are as published.
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
        ('proton.start("matmul", hook="triton")', "raise SystemExit"),
    ), arguments=((), ("--prec", "fp8"))),
    "10-block-scaled-matmul.py": Small(texts=(
        ("validate_block_scaled(8192, 8192, 8192,", "validate_block_scaled(256, 512, 512,"),
        # Only a comparison: the simulated cuBLASLt has no scales of blocks.
        ('if cublas and block_scale_type in ["mxfp8", "nvfp4"]:', "if False:"),
        ("if args.bench:", "if False:"),
    ), arguments=tuple(("--format", f) for f in ("nvfp4", "mxfp4", "mxfp8", "mixed")),
        device="sm_100"),
}


def no_benchmarks():
    """Leaves out Triton's benchmarks, whose plots need packages of their own."""
    from triton import testing
    testing.Mark.run = lambda *arguments, **named: None


def few_configurations(most):
    """Leaves an autotuner at most so many configurations.

    Under `lockstep exec` each configuration runs once, and the first that can run is taken.
    """
    from triton.runtime import autotuner

    pruned = autotuner.Autotuner.prune_configs

    def few(self, *arguments, **named):
        all_of_them = list(pruned(self, *arguments, **named))
        return all_of_them[::max(1, len(all_of_them) // most)][:most]

    autotuner.Autotuner.prune_configs = few


def text_of(script, small):
    """A tutorial's text in small sizes. ValueError: a text is not there once."""
    text = pathlib.Path(script).read_text()
    for published, instead in small.texts:
        if text.count(published) != 1:
            raise ValueError(f"{script}: {published!r} occurs {text.count(published)} times")
        text = text.replace(published, instead)
    return text


class _Watched:
    """An output that remembers whether a tutorial has printed that a result is wrong."""

    def __init__(self, stream):
        self.stream, self.wrong = stream, []

    def write(self, text):
        self.wrong += re.findall(r"[^\r\n]*❌[^\r\n]*", text)
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


def run(script, small):
    """Runs a tutorial as __main__. AssertionError: it has printed that a result is wrong."""
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
