#!/usr/bin/python3
"""Tasks: invalid contracts, and the cases that a contract generates."""

import sys

import numpy as np
import pytest

import tasks
from lockstep import judging
from lockstep.candidate import BadCandidate, _launch, instructions, library_symbol, prepare
from lockstep.compiler import CompileError
from lockstep.cases import make_case
from lockstep.contract import (BadTask, Input, InOut, Launch, Output, Size, Task, dim3, evaluate)
from lockstep.transcript import variables_of

N = Size("n", 1, 100)


def task(*arguments, **more):
    return Task(entry="f", arguments=list(arguments), reference=lambda **_: 0, **more)


@pytest.mark.parametrize("make, message", [
    (lambda: task(Input("x", "f32", (N,)), N), "nothing can be judged"),
    (lambda: task(Output("x", "f32", (N,)), Input("x", "f32", (N,))), "two arguments have the"),
    (lambda: task(Output("x", "f31", (N,))), "no element type 'f31'"),
    (lambda: task(Output("x", "f32", ("m",))), "no expression of the sizes"),
    (lambda: task(Output("x", "f32", ("__import__('os')",)), N), "no expression of the sizes"),
    (lambda: task(Output("x", "f32", (N,), aligned=6)), "align no element"),
    (lambda: task(Output("x", "f32", (N,), row_stride=N)), "two dimensions"),
    (lambda: task(Output("x", "f32", (Size("n", 5, 1),))), "is empty or negative"),
    (lambda: task(Output("x", "f32", (N,)), may_overlap=[("x", "y")]), "which is no array"),
    (lambda: task(Output("x", "f32", (N,)), arrays="jax"), "may be lockstep, torch or cupy"),
    (lambda: Task(entry="f", arguments=[Output("x", "f32", (N,))], reference=3), "neither"),
])
def test_a_contradiction_is_refused(make, message):
    with pytest.raises(BadTask, match=message):
        make()


def test_expressions():
    sizes = {"n": 100, "m": 7}
    assert evaluate("cdiv(n, 32) * m", sizes) == 28
    assert evaluate("max(n - 101, 0)", sizes) == 0
    assert evaluate("n / m", sizes) == 14
    assert dim3(("cdiv(n, 32)", 2), sizes) == (4, 2, 1)
    for wrong in ("n **", "n // 0", "k + 1", "n.real", "[n]", "min(n)"):
        with pytest.raises(ValueError):
            evaluate(wrong, sizes)


def test_sizes_are_calculated_with():
    m, sizes = Size("m", 1, 9), {"n": 100, "m": 7}
    for extent, value in [((N + 31) // 32, 4), (-(-N // 32), 4), (4 * N, 400), (N * m, 700),
                          (2 * (N - 1) % m, 2), (100 - m, 93), (N / 8 + m, 19), (1 + N, 101)]:
        assert evaluate(extent, sizes) == value, extent
    assert dim3((-(-N // 32), m), sizes) == (4, 7, 1)
    for wrong in (lambda: max(N, m), lambda: max(N - m, m - 1), lambda: N >= m):
        with pytest.raises(TypeError, match="as text"):
            wrong()
    with pytest.raises(TypeError, match="neither an integer"):
        N * 0.5


def test_the_first_cases_have_the_smallest_and_the_largest_sizes():
    cases = [make_case(tasks.total, 3, k) for k in range(40)]
    assert (cases[0].sizes["n"], cases[1].sizes["n"]) == (1, 3000)
    assert len({c.sizes["n"] for c in cases}) > 20
    assert {31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257} & {c.sizes["n"] for c in cases}


def test_a_seed_gives_its_cases_and_no_others():
    one, again, other = (make_case(tasks.softmax, s, 5) for s in (1, 1, 2))
    assert one.sizes == again.sizes
    assert np.array_equal(one.inputs(1)["x"], again.inputs(1)["x"])
    assert one.sizes != other.sizes or \
        not np.array_equal(one.inputs(1)["x"], other.inputs(1)["x"])
    assert not np.array_equal(one.inputs(1)["x"], one.inputs(2)["x"])


def test_require_holds_in_every_case_or_the_task_is_refused():
    for k in range(30):
        sizes = make_case(tasks.transpose, 7, k).sizes
        assert sizes["stride"] >= sizes["columns"]
    with pytest.raises(BadTask, match="no sizes were found"):
        make_case(task(Output("x", "f32", (N,)), require="n > 100"), 1, 0)


def test_rows_lie_apart_and_special_values_occur():
    case = next(c for c in (make_case(tasks.transpose, 7, k) for k in range(30))
                if c.placed[0].stride > c.placed[0].shape[1] and c.placed[0].shape[0] > 1)
    memory = case.placed[0].spread(case.inputs(1)["x"], b"\xff")
    assert np.isnan(memory[~case.placed[0].used()]).all()
    assert np.array_equal(case.placed[0].gather(memory), case.inputs(1)["x"])
    drawn = [make_case(tasks.relu, 7, k).inputs(c)["x"] for k in range(10) for c in (1, 2)]
    assert any(np.isnan(x).any() for x in drawn) and any(np.isinf(x).any() for x in drawn)


def test_arrays_overlap_where_the_contract_lets_them():
    assert any(p.shares == "x" for k in range(12) for p in make_case(tasks.relu, 7, k).placed)
    assert not any(p.shares for k in range(12) for p in make_case(tasks.axpy, 7, k).placed)


def test_poisons_of_the_first_and_the_last_call_complement_each_other():
    first, last = (judging._poison(1, 2, call) for call in (1, judging.CALLS))
    assert all(a ^ b == 255 for a, b in zip(first, last))
    assert judging._poison(1, 2, 2) not in (first, last)


@pytest.mark.parametrize("made", [lambda **_: np.zeros(3), lambda **_: {}])
def test_a_reference_of_another_shape_or_name_is_refused(made):
    one = Task(entry="f", arguments=[InOut("x", "f32", (5,))], reference=made)
    case = make_case(one, 1, 0)
    with pytest.raises(BadTask, match="the reference"):
        judging.expected_results(one, case, case.inputs(1), {}, None)


def test_a_candidates_launch():
    usual = Launch(1, 2, 3)
    assert _launch("// lockstep: grid=(cdiv(n, 2), 4) shared=8*n\n", usual) == \
        Launch(("cdiv(n, 2)", "4"), 2, "8*n")
    assert _launch("no such line", usual) == usual
    with pytest.raises(BadCandidate, match="is not understood"):
        _launch("// lockstep: gird=4\n", usual)


def test_a_file_that_does_not_compile_is_reported_with_the_compilers_errors(tmp_path):
    one = Task(entry="f", arguments=[InOut("x", "f32", (5,))], reference=lambda **_: {})
    path = tmp_path / "candidate.cu"
    path.write_text("__global__ void g(float* x) { x[0] = ; }\n")
    with pytest.raises(CompileError, match="expected an expression"):
        prepare(str(path), one)
    path.write_text("__global__ void g(float* x) { x[0] = 1; }\n")
    with pytest.raises(BadCandidate, match="neither a kernel nor a function f; its kernels: g"):
        prepare(str(path), one)


def test_the_variables_and_instructions_of_ptx():
    ptx = """.visible .global .align 4 .u32 count;
.global .align 4 .b8 table[16];
.shared .align 4 .f32 tile[2];
.visible .entry f() {
 ex2.approx.ftz.f32 %f1, %f2;  // sqrt.approx.f32
 @%p1 bra $L1;
 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
}"""
    assert variables_of(ptx) == ["count", "table"]
    used = instructions([ptx])
    assert used["approximate"] == ["ex2.approx.ftz.f32"]
    assert used["matrix_unit"] == ["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]
    assert "bra" in used["exact"]


def test_the_symbol_of_a_library():
    assert library_symbol("x.so: undefined symbol: cublasSgemm_v2") == "cublasSgemm_v2"
    assert library_symbol("x.so: undefined symbol: helper") == ""


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
