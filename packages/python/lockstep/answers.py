"""The format of messages from a candidate's process, whose code may send anything."""

from typing import Any, Dict

from lockstep.findings import Finding

_OPERATION = {"kind": str, "call": str, "given": bool}
_TEXTS = {"error": str, "reading": [str], "exchanged": [str], "findings": [Finding],
          "work": [dict]}
LOAD: Dict[str, Any] = _TEXTS
END: Dict[str, Any] = {"ptx": [str]}
CALL: Dict[str, Any] = {
    **_TEXTS, "outputs": [str], "objects": int, "kept": [str], "operations": [_OPERATION],
    "library_calls": [str], "counters": {}, "libraries": [str], "before": [dict],
    "addresses": {}}
REPLAY: Dict[str, Any] = {"error": str, "not_replayed": str, "outputs": [str],
                          "findings": [Finding], "kept": [str], "objects": int}


class Malformed(Exception):
    """A process sent a message that no worker sends."""


def _check_encoding(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Malformed(f"{where} is no text") from error


def check(value: Any, form: Any, where: str = "the answer") -> None:
    """Raises Malformed. form: a type; [form], a list; a dict of forms by key, where {} takes
    numbers under any name; or Finding, the JSON of one."""
    if isinstance(form, list):
        check(value, list, where)
        for item in value:
            check(item, form[0], where)
    elif isinstance(form, dict):
        check(value, dict, where)
        for key, inner in form.items():
            if key not in value:
                raise Malformed(f"{where} has no '{key}'")
            check(value[key], inner, f"'{key}' of {where}")
        if not form:
            for item in value.values():
                check(item, int, where)
    elif form is Finding:
        check(value, dict, where)
        try:
            made = Finding.from_json(value)
        except (TypeError, ValueError, AttributeError) as error:
            raise Malformed(f"{where} has no finding: {error}") from error
        for text in (made.kind, made.severity, made.text, made.file, made.instruction):
            check(text, str, where)
    elif form is str and isinstance(value, str):
        if not value.isascii():
            _check_encoding(value, where)
    elif not isinstance(value, form) or (form is int and isinstance(value, bool)):
        raise Malformed(f"{where} is {type(value).__name__}, and no {form.__name__}")
