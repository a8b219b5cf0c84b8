"""`lockstep judge` and `lockstep compare`. The command has checked the words; options are the same
here (command/tree.cc)."""

import argparse
import importlib.util
import json
import os
import sys
import traceback
from typing import Any, List, NoReturn, Tuple

ACCEPTED, REJECTED, USAGE, INCOMPLETE = 0, 1, 2, 3


class _Parser(argparse.ArgumentParser):
    """Reports an error in one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"lockstep: {message}\n{self.prog} --help lists its options", file=sys.stderr)
        sys.exit(USAGE)


def _parser() -> argparse.ArgumentParser:
    from lockstep.places import command
    parser = _Parser(prog=command())
    commands = parser.add_subparsers(dest="command", required=True)
    for name, files in (("judge", ["CANDIDATE"]), ("compare", ["OLD", "NEW"])):
        one = commands.add_parser(name)
        one.add_argument("--task", required=True)
        one.add_argument("--entry", default="")
        one.add_argument("--cases", type=int, default=12)
        one.add_argument("--seed", type=int)
        one.add_argument("--device", default="sm_90")
        one.add_argument("--json", default="")
        one.add_argument("--html", default="")
        one.add_argument("--time-limit", type=float, default=60)
        one.add_argument("--memory-limit", type=int, default=4)
        one.add_argument("--config", default="")  # the command has read the file
        one.add_argument("--isolation", choices=["full", "off"], default="full")
        for file in files:
            one.add_argument(file.lower(), metavar=file)
    return parser


def _fail(status: int, sentence: str) -> int:
    print(f"lockstep: {sentence}", file=sys.stderr)
    return status


def load_task(path: str) -> Any:
    """The object `task` of a Python file. Raises BadTask."""
    from lockstep.contract import BadTask, Task
    if not os.path.exists(path):
        raise BadTask("there is no such file")
    spec = importlib.util.spec_from_file_location("lockstep_task", path)
    if spec is None or spec.loader is None:
        raise BadTask("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["lockstep_task"] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        spec.loader.exec_module(module)
    except BadTask:
        raise
    except Exception as error:
        raise BadTask(f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    task = getattr(module, "task", None)
    if not isinstance(task, Task):
        raise BadTask("it defines no `task` of type lockstep.contract.Task")
    if isinstance(task.reference, str):
        import dataclasses
        beside = os.path.join(os.path.dirname(os.path.abspath(path)), task.reference)
        task = dataclasses.replace(task, reference=beside)
    return task


def place_in_task(path: str, error: BaseException) -> str:
    """The task's path, with the last of its lines in the traceback of the error or of its cause."""
    line = 0
    for one in (error, error.__cause__):
        if isinstance(one, SyntaxError) and one.filename == path:
            line = one.lineno or 0
        for frame, number in traceback.walk_tb(one.__traceback__ if one else None):
            if frame.f_code.co_filename == path:
                line = number
    return f"{path}, line {line}" if line else path


def _settings(options: argparse.Namespace) -> Tuple[Any, List[str], Any]:
    """The task, the files that a candidate may not read, and the settings."""
    from lockstep.isolation import Limits
    from lockstep.judging import Settings
    task = load_task(options.task)
    hidden = [options.task] + ([task.reference] if isinstance(task.reference, str) else [])
    settings = Settings(options.cases, options.seed, options.device, options.entry,
                        Limits(options.time_limit, options.memory_limit),
                        options.isolation == "full")
    return task, [os.path.realpath(h) for h in hidden], settings


def _print(text: str) -> None:
    """Writes to stdout. Ignores a reader that has ended, such as head."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(path: str, made: Any) -> None:
    text = json.dumps(made, indent=2) + "\n"
    if path == "-":
        _print(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _judge(options: argparse.Namespace) -> int:
    from lockstep import page, verdict
    from lockstep.judging import judge
    task, hidden, settings = _settings(options)
    made = judge(task, options.candidate, settings, hidden)
    if options.json:
        _write(options.json, verdict.as_json(made, options.task))
    if options.html:
        page.write(options.html, page.of_verdict(verdict.as_json(made, options.task)))
    if options.json != "-":
        _print(verdict.as_text(made, options.task))
    return ACCEPTED if made.accepted else REJECTED


def _compare(options: argparse.Namespace) -> int:
    from lockstep import comparing, page
    task, hidden, settings = _settings(options)
    made = comparing.compare_kernels(task, options.old, options.new, settings, hidden,
                                     options.task)
    if options.json:
        _write(options.json, made.json())
    if options.html:
        page.write(options.html, page.of_comparison(made.json()))
    if options.json != "-":
        _print(made.text())
    return ACCEPTED if made.new.accepted else REJECTED


def main(words: List[str]) -> int:
    options = _parser().parse_args(words)
    try:
        import numpy  # noqa: F401
    except ImportError:
        return _fail(INCOMPLETE, f"{options.command} needs NumPy for {sys.executable}: pip install "
                     "numpy, or Debian's python3-numpy")
    from lockstep.compiler import NoCompiler
    from lockstep.contract import BadTask
    from lockstep.isolation import NotIsolated
    from lockstep.places import NotInstalled
    try:
        return _judge(options) if options.command == "judge" else _compare(options)
    except BadTask as error:
        return _fail(USAGE, f"the task {place_in_task(options.task, error)}: {error}")
    except NotIsolated as error:
        return _fail(INCOMPLETE, f"this system does not isolate a candidate: {error}. "
                     "--isolation=off judges without; the receipt says so")
    except (NoCompiler, NotInstalled) as error:
        return _fail(INCOMPLETE, str(error))
    except OSError as error:
        return _fail(USAGE, f"{error.filename or 'a file'}: {error.strerror or error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
