"""A pytest plugin and a runner of scripts, which write each outcome as a line of a file.

  python -m pytest -p outcomes FILE    python outcomes.py SCRIPT

LOCKSTEP_OUTCOMES names the file: "passed NAME", "skipped NAME: reason" or "failed NAME: reason".
LOCKSTEP_SECONDS is the time after which no further test starts; a line "cut" reports that. With
LOCKSTEP_EVERY=N every N-th test of a file runs, from its first. Tests that match a pattern of
LOCKSTEP_LAST, separated by spaces, run last: they leave the device with an error. LOCKSTEP_MODULE
is the module name of a file. With LOCKSTEP_SMALL a Triton tutorial runs in small sizes
(tutorials.py).
"""

import fnmatch
import importlib
import os
import re
import runpy
import sys
import time

import tutorials

try:
    import pytest
except ImportError:  # scripts need no pytest
    pytest = None

_small = "LOCKSTEP_SMALL" in os.environ  # else as published

_began = time.monotonic()


def _line(outcome, name, reason=None):
    with open(os.environ["LOCKSTEP_OUTCOMES"], "a") as file:
        file.write(f"{outcome} {name}" + (f": {' '.join(reason.split())[:400]}" if reason else "") +
                   "\n")


def _reason(report):
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else str(report.longrepr)


def _name(node, location=None):
    """The name of a test: its file without folders, and its own name."""
    file, mark, test = node.partition("::")
    return os.path.basename(file or (location or ("",))[0]) + mark + test


def _outcome(report):
    name = _name(report.nodeid, getattr(report, "location", None))
    if hasattr(report, "wasxfail"):  # an expected failure: failed, or passed although not strict
        _line("passed", name)
    else:
        _line(report.outcome, name, None if report.passed else _reason(report))


def pytest_runtest_logreport(report):
    # Set-up and tear-down are outcomes only if they did not pass.
    if report.when == "call" or not report.passed:
        _outcome(report)


def pytest_collectreport(report):
    if not report.passed:
        _outcome(report)


if pytest:

    @pytest.fixture(scope="class")
    def initialize_from_pytest_config(request):
        """Sets up what tests of numba-cuda get in its repository but not in its package."""
        request.cls._dump_failed_filechecks = False

    def pytest_configure():
        # Before pytest names the packages that contain the files.
        if "LOCKSTEP_MODULE" in os.environ:
            importlib.import_module(os.environ["LOCKSTEP_MODULE"].rpartition(".")[0])

    class NamedModule(pytest.Module):

        def _getobj(self):
            return importlib.import_module(os.environ["LOCKSTEP_MODULE"])

    def pytest_pycollect_makemodule(module_path, parent):
        if "LOCKSTEP_MODULE" in os.environ:
            return NamedModule.from_parent(parent, path=module_path)
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(items):
        patterns = os.environ.get("LOCKSTEP_LAST", "").split()
        if _small:
            small = {name: re.compile(s.tests) for name, s in tutorials.SMALL.items()}
            every = re.compile("")
            items[:] = [i for i in items if small.get(i.path.name, every).search(i.name)]
        items[:] = sorted(
            items[::int(os.environ["LOCKSTEP_EVERY"])], key=lambda item: any(
                fnmatch.fnmatchcase(_name(item.nodeid, item.location), p) for p in patterns))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(nodeid, location):
        if time.monotonic() - _began > float(os.environ["LOCKSTEP_SECONDS"]):
            _line("cut", nodeid)
            pytest.exit("the time is over", returncode=0)


def _run(script):
    """Runs a script; a Triton tutorial runs without its benchmarks."""
    tutorials.no_benchmarks()
    if _small:
        tutorials.run(script, tutorials.SMALL.get(os.path.basename(script), tutorials.Small()))
    else:
        runpy.run_path(script, run_name="__main__")


def main():
    script = sys.argv[1]
    name = " ".join([os.path.basename(script), *sys.argv[2:]])
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(script))
    try:
        _run(script)
        _line("passed", name)
    except SystemExit as end:
        if end.code:
            _line("failed", name, f"SystemExit: {end.code}")
            raise
        _line("passed", name)
    except BaseException as error:
        _line("failed", name, f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
