"""pytest --lockstep: each test runs on the simulated GPU, and fails by the findings it causes.

A test's set-up and clean-up count as its own. What a finding has left on the device is cleared
before the next test, so one test's mistake does not fail another.
"""

import os
from typing import Any, Generator, List

import pytest

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
    """Starts pytest anew under lockstep exec, before any conftest.py or test uses CUDA."""
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
    first = next((f.place for f in found if f.place), "")
    report.user_properties.append(("lockstep", [f"{f.kind} {f.place}".strip() for f in found]))
    # A test that has failed already keeps its own reason, often a consequence of the finding.
    if report.outcome != "passed":
        report.sections.append(("findings of the simulated GPU", text))
    else:
        report.outcome = "failed"
        kinds = ", ".join(dict.fromkeys(f.kind for f in found))
        at = f" at {first}" if first else ""
        report.longrepr = f"{text}\n\nlockstep: {kinds}{at}, caused by {item.nodeid}"
