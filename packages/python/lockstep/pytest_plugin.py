"""pytest --lockstep: each test runs on the simulated GPU, and fails if it causes a finding.

A test's set-up and clean-up belong to the test. The error that a finding leaves on the device is
cleared before the next test, so that one test's mistake does not fail another.
"""

import os
from typing import Any, Generator, List

import pytest
from _pytest._code.code import ReprFileLocation  # what a summary's line is made of

from lockstep.findings import Finding

_ENABLED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lockstep", "the simulated GPU of Lockstep")
    group.addoption("--lockstep", action="store_true", default=False,
                    help="run the tests on the simulated GPU; a finding fails its test")
    group.addoption("--lockstep-device", default="", metavar="sm_NN",
                    help="which device is simulated (sm_90)")
    group.addoption("--lockstep-check", default="", metavar="LIST",
                    help="which checks run: as --check of lockstep exec")
    group.addoption("--lockstep-schedule", default=None, type=int, metavar="SEED",
                    help="seed of the schedule; 0 is the deterministic order")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser,
                                  args: List[str]) -> None:
    """Restarts pytest under lockstep exec, before any conftest.py or test uses CUDA."""
    options = early_config.known_args_namespace
    if not getattr(options, "lockstep", False):
        return
    from lockstep.session import NotEnabled, is_enabled, enable
    from lockstep.places import NotInstalled
    if is_enabled():
        return
    if early_config.pluginmanager.has_plugin("xdist") and os.environ.get("PYTEST_XDIST_WORKER"):
        raise pytest.UsageError("lockstep: a worker of xdist is not on the simulated GPU")
    capture = early_config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)  # the new process has the terminal
    try:
        enable(options.lockstep_device, options.lockstep_check, options.lockstep_schedule,
               quiet=True)
    except (NotEnabled, NotInstalled) as error:
        raise pytest.UsageError(f"--lockstep: {error}") from error


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "lockstep_allows(*kinds): findings of these kinds do not "
                            "fail the test")
    config.stash[_ENABLED] = bool(config.getoption("--lockstep"))


def pytest_report_header(config: pytest.Config) -> str:
    if not config.stash[_ENABLED]:
        return ""
    device = os.environ.get("LOCKSTEP_DEVICE", "sm_90")
    return f"lockstep: simulated {device}, checks {os.environ.get('LOCKSTEP_CHECKS', 'all')}"


def _errors(item: pytest.Item) -> List[Finding]:
    from lockstep.session import clear_error, take_findings
    allowed = {kind for mark in item.iter_markers("lockstep_allows") for kind in mark.args}
    found = [f for f in take_findings() if f.is_error and f.kind not in allowed]
    clear_error()
    return found


class _CausedFindings(AssertionError):
    """The failure of a test that has raised nothing itself."""


def _in_one_line(item: pytest.Item, found: List[Finding]) -> str:
    """"race, uninitialised at kernels/sum.cu:12": the kinds, and the place of the first."""
    kinds = ", ".join(dict.fromkeys(f.kind for f in found))
    first = next((f for f in found if f.place), None)
    if first is None:
        return kinds
    name = os.path.relpath(first.file, item.config.rootpath)
    return f"{kinds} at {os.path.basename(name) if name.startswith('..') else name}:{first.line}"


def _failure(item: pytest.Item, found: List[Finding]) -> Any:
    """The representation of a failure, whose line in the summary names the findings."""
    summary = _in_one_line(item, found)
    try:
        raise _CausedFindings("\n".join(f.text for f in found) +
                              f"\n\nlockstep: {summary}, caused by {item.nodeid}")
    except _CausedFindings:
        shown = pytest.ExceptionInfo.from_current().getrepr(style="value")
    first = found[0]
    shown.reprcrash = ReprFileLocation(first.file, first.line, summary)
    return shown


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item,
                              call: pytest.CallInfo) -> Generator[None, Any, None]:
    """Adds the phase's findings to its report."""
    outcome = yield
    if not item.config.stash[_ENABLED]:
        return
    report = outcome.get_result()
    found = _errors(item)
    if not found:
        return
    text = "\n".join(f.text for f in found)
    report.user_properties.append(("lockstep", [f"{f.kind} {f.place}".strip() for f in found]))
    # A failed test keeps its own reason, which is often a consequence of the finding.
    if report.outcome == "passed":
        report.outcome = "failed"
        report.longrepr = _failure(item, found)
        return
    report.sections.append(("findings of the simulated GPU", text))
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.outcome == "failed" and crash is not None:
        crash.message = f"{_in_one_line(item, found)} ({crash.message})"
