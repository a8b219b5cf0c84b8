#!/usr/bin/python3
"""lockstep.enable(), findings as objects, pytest --lockstep and lockstep.law, as a user has them:
in processes of their own."""

import os
import subprocess
import sys
import textwrap

import pytest

_SCALE = '''
SOURCE = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];  // line 4
}
extern "C" __global__ void unwritten(float* y) {
  __shared__ float s[2];
  if (threadIdx.x == 0) s[blockIdx.x] = 1, y[0] = s[blockIdx.x + 1] + 1;  // line 8
}
"""
'''


def run(tmp_path, text, *command, env=None, name="test_it.py"):
    (tmp_path / name).write_text("import numpy as np\nimport lockstep\n" + _SCALE +
                                 textwrap.dedent(text))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment.update(env or {})
    done = subprocess.run([sys.executable, *command, name], cwd=tmp_path, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.returncode, done.stdout


def pytest_run(tmp_path, text, *options, env=None):
    return run(tmp_path, text, "-m", "pytest", "-p", "lockstep.pytest_plugin", "-p",
               "no:cacheprovider", "-q", *options, env=env)


_TESTS = """
    def launched(name, *arguments):
        lockstep.compile(SOURCE).kernel(name)[1, 32](*arguments)

    def test_right():
        y = lockstep.empty(8)
        launched("scale", lockstep.array(np.arange(8, dtype="f4")), y, 8)
        assert list(y.numpy()) == list(range(0, 16, 2))

    def test_unwritten():
        launched("unwritten", lockstep.empty(1))

    def test_past_the_end():
        launched("scale", lockstep.empty(8), lockstep.empty(7), 8)

    def test_right_after_them():
        test_right()
"""


def test_a_finding_fails_the_test_that_caused_it(tmp_path):
    status, text = pytest_run(tmp_path, _TESTS, "--lockstep")
    assert status == 1, text
    assert "2 failed, 2 passed" in text
    assert "FAILED test_it.py::test_unwritten" in text
    assert "FAILED test_it.py::test_past_the_end" in text
    assert "source.cu:8" in text and "uninitialised" in text
    assert "source.cu:4" in text and "out-of-bounds" in text


def test_a_wrong_call_of_a_kernel_is_an_error_of_python(tmp_path):
    status, text = pytest_run(tmp_path, """
    import ctypes, pytest
    from lockstep.device import parameter_sizes

    PTX = ".entry k ( .param .u64 .ptr .global .align 4 a, /* .param .u8 x, */ // .param .u8\\n" \
          "  .param .align 8 .b8 b[24], .param .f32 c ) { ret; } .entry kk { ret; } .entry n() {}"

    @pytest.mark.parametrize("kernel, arguments, message", [
        ("scale", 2, "scale has 3 parameters, and got 2 arguments"),
        ("scale", 4, "scale has 3 parameters, and got 4 arguments"),
        ("scale", np.int64(8), "parameter 3 of scale has 4 bytes, and the argument"),
        ("scala", 3, "no kernel scala; its kernels: scale, unwritten"),
    ])
    def test_wrong(kernel, arguments, message):
        y = lockstep.empty(8)
        given = [y, y, 8, 8][:arguments] if type(arguments) is int else [y, y, arguments]
        with pytest.raises((TypeError, KeyError), match=message):
            lockstep.compile(SOURCE).kernel(kernel)[1, 32](*given)
        assert not lockstep.take_findings() or kernel == "scala"

    def test_parameters():
        assert parameter_sizes(PTX, "k") == [8, 24, 4]
        assert parameter_sizes(PTX, "kk") == parameter_sizes(PTX, "n") == []
        assert parameter_sizes(PTX, "other") is None
    """, "--lockstep")
    assert status == 0 and "5 passed" in text, text


def test_the_summary_names_the_finding(tmp_path):
    status, text = pytest_run(tmp_path, _TESTS + """
    def test_reads_after_the_error():
        y = lockstep.empty(7)
        launched("scale", lockstep.empty(8), y, 8)
        y.numpy()
    """, "--lockstep", f"--junitxml={tmp_path}/junit.xml", env={"COLUMNS": "200"})
    assert status == 1, text
    summary = text[text.index("short test summary"):]
    assert "FAILED test_it.py::test_unwritten - uninitialised at source.cu:8\n" in summary
    both = "uninitialised, out-of-bounds at source"
    assert f"FAILED test_it.py::test_past_the_end - {both}" in summary
    assert f"FAILED test_it.py::test_reads_after_the_error - {both}" in summary
    assert "AssertionError" not in summary, summary
    junit = (tmp_path / "junit.xml").read_text()
    assert 'message="uninitialised at source.cu:8"' in junit
    assert "(lockstep.device.CudaError: cuMemcpyDtoH_v2 returned CUDA_ERROR_ILLEGAL_A" in junit


def test_a_finding_can_be_allowed(tmp_path):
    status, text = pytest_run(tmp_path, """
        import pytest

        @pytest.mark.lockstep_allows("uninitialised")
        def test_unwritten():
            lockstep.compile(SOURCE).kernel("unwritten")[1, 1](lockstep.empty(1))
        """, "--lockstep")
    assert status == 0, text


def test_options_choose_device_and_checks(tmp_path):
    text_of_test = """
        def test_it():
            lockstep.compile(SOURCE, device="sm_80").kernel("unwritten")[1, 1](lockstep.empty(1))
        """
    status, text = pytest_run(tmp_path, text_of_test, "--lockstep", "--lockstep-device=sm_80",
                              "--lockstep-check=races", "-v")
    assert status == 0, text
    assert "simulated sm_80, checks races" in text
    status, text = pytest_run(tmp_path, text_of_test, "--lockstep", "--lockstep-device=sm_8")
    assert status != 0 and "sm_8" in text


def test_without_the_option_nothing_changes(tmp_path):
    status, text = pytest_run(tmp_path, """
        def test_it():
            assert not lockstep.is_enabled()
        """)
    assert status == 0, text


def test_enable_starts_the_process_anew(tmp_path):
    status, text = run(tmp_path, """
        import sys
        before = lockstep.is_enabled()
        lockstep.enable(device="sm_80")
        assert lockstep.is_enabled() and sys.argv == ["it.py"]
        lockstep.compile(SOURCE, device="sm_80").kernel("unwritten")[1, 1](lockstep.empty(1))
        finding, = [f for f in lockstep.take_findings() if f.is_error]
        print(finding.kind, finding.line, finding.kernel, finding.thread, finding.other is not None)
        """, name="it.py")
    assert status == 0, text
    assert "uninitialised 8 unwritten (0, 0, 0) True" in text


def test_enable_after_cuda_is_an_error(tmp_path):
    real = tmp_path / "libcudart.so.13"
    subprocess.run(["cc", "-shared", "-o", str(real), "-x", "c", "/dev/null"], check=True)
    status, text = run(tmp_path, f"""
        import ctypes
        ctypes.CDLL({str(real)!r})
        lockstep.enable()
        """, name="it.py")
    assert status == 1
    assert "comes too late: CUDA is in use already" in text and "libcudart.so.13" in text


def test_an_interactive_interpreter_is_an_error(tmp_path):
    done = subprocess.run([sys.executable, "-"], input="import lockstep\nlockstep.enable()\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 1 and "lockstep exec -- python" in done.stdout


def test_run_returns_a_report(tmp_path):
    status, text = run(tmp_path, """
        import sys
        if len(sys.argv) > 1:
            lockstep.compile(SOURCE).kernel("unwritten")[1, 1](lockstep.empty(1))
            sys.exit()
        report = lockstep.run([sys.executable, __file__, "again"])
        print(report.exit_status, report.kernels, report.complete, report.device)
        print([(f.kind, f.place) for f in report.errors])
        print("all:", [f.kind for f in report.findings])
        """, name="it.py")
    assert status == 0, text
    assert "86 {'unwritten': 1} True sm_90" in text
    # NVRTC asks the driver for a private table and does without it: that is no finding.
    assert "all: ['uninitialised']" in text
    assert "[('uninitialised', '" in text and "source.cu:8')]" in text


def test_what_needs_the_simulated_gpu_says_so(tmp_path):
    status, text = run(tmp_path, "lockstep.take_findings()\n", name="it.py")
    assert status == 1 and "call lockstep.enable() first" in text and "pytest --lockstep" in text


def test_checked_raises_findings(tmp_path):
    status, text = run(tmp_path, """
        lockstep.enable()
        try:
            with lockstep.checked():
                lockstep.compile(SOURCE).kernel("unwritten")[1, 1](lockstep.empty(1))
        except lockstep.KernelFindings as error:
            print("raised", [f.kind for f in error.findings])
        with lockstep.checked():
            lockstep.compile(SOURCE).kernel("scale")[1, 1](lockstep.empty(1), lockstep.empty(1), 0)
        """, name="it.py")
    assert status == 0, text
    assert "raised ['uninitialised']" in text


_LAW = """
    from hypothesis import strategies as st

    @lockstep.law(x=lockstep.law.array("f32", (st.integers(1, 70),)), a=lockstep.law.number("f32"))
    def test_scale(x, a):
        y = lockstep.empty(x.size)
        lockstep.compile(SOURCE).kernel("scale")[-(-x.size // 32), 32](
            lockstep.array(x), y, x.size{wrong})
        lockstep.law.require(y, {reference})
"""


def test_a_law_that_holds(tmp_path):
    text_of_test = _LAW.format(wrong="", reference="x.astype(float) * 2")
    status, text = pytest_run(tmp_path, text_of_test, "--lockstep")
    assert status == 0, text
    status, text = pytest_run(tmp_path, text_of_test, "-rs")
    assert status == 0 and "a law needs the simulated GPU" in text, text


def test_a_law_that_is_broken(tmp_path):
    status, text = pytest_run(tmp_path, _LAW.format(
        wrong="", reference="lockstep.bound.within(x * 2.001, 0.0005)"), "--lockstep")
    assert status == 1 and "LawBroken" in text and "outside of their bound" in text, text


def test_a_law_whose_kernel_has_a_finding_shrinks_to_the_smallest(tmp_path):
    status, text = pytest_run(tmp_path, _LAW.format(wrong=" + (x.size > 40)", reference="2 * x"),
                              "--lockstep")
    assert status == 1 and "out-of-bounds" in text, text
    assert "(164 bytes)" in text, text  # 41 elements


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
