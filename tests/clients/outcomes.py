"""A plugin of pytest's, and a runner of scripts: each outcome is a line of a file.

  python -m pytest -p outcomes FILE    python outcomes.py SCRIPT

LOCKSTEP_OUTCOMES names the file: "passed NAME", "skipped NAME: reason" or "failed NAME: reason".
LOCKSTEP_SECONDS is the time after which no further test starts; a line "cut" then says so. With
LOCKSTEP_EVERY=N each N-th test of a file runs, from its first. Tests that fit a pattern of
LOCKSTEP_LAST, with spaces between, run last: they leave the device with an error. LOCKSTEP_MODULE
is the name that a file is imported by. With LOCKSTEP_SMALL=N a tutorial of Triton's runs in small
sizes with N configurations of each kernel (tutorials.py).
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
except ImportError:  # a script needs none
    pytest = None

_configurations = int(os.environ.get("LOCKSTEP_SMALL", "0"))  # 0: as published

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
    """A test by its file and its name, whatever folder it is in."""
    file, mark, test = node.partition("::")
    return os.path.basename(file or (location or ("",))[0]) + mark + test


def _outcome(report):
    name = _name(report.nodeid, getattr(report, "location", None))
    if hasattr(report, "wasxfail"):  # expected to fail, and did, or did not although not strict
        _line("passed", name)
    else:
        _line(report.outcome, name, None if report.passed else _reason(report))


def pytest_runtest_logreport(report):
    # Of set-up and clearing up, only what is not "passed" is an outcome.
    if report.when == "call" or not report.passed:
        _outcome(report)


def pytest_collectreport(report):
    if not report.passed:
        _outcome(report)


if pytest:

    @pytest.fixture(scope="class")
    def initialize_from_pytest_config(request):
        """What the repository of numba-cuda gives its tests, and its package does not."""
        request.cls._dump_failed_filechecks = False

    def pytest_configure():
        # Before pytest gives the packages around the file names of its own.
        if "LOCKSTEP_MODULE" in os.environ:
            importlib.import_module(os.environ["LOCKSTEP_MODULE"].rpartition(".")[0])
        if _configurations:
            tutorials.few_configurations(_configurations)

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
        if _configurations:
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
    """Runs a script, a tutorial of Triton's without its benchmarks."""
    tutorials.no_benchmarks()
    if _configurations:
        tutorials.few_configurations(_configurations)
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
