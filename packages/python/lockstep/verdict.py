"""A verdict as JSON (docs/reference/verdict.md) and as a page of text."""

import os
from typing import Any, Dict, List

from lockstep import isolation
from lockstep.candidate import instructions
from lockstep.judging import CALLS, Judgement
from lockstep.places import command
from lockstep.reasons import CODES

SCHEMA = "lockstep.verdict/1"


def _version() -> str:
    from lockstep.places import package_root, prefix
    for place in (os.path.join(prefix(), "share/lockstep/VERSION"),
                  os.path.join(package_root(), "..", "..", "VERSION")):
        if os.path.exists(place):
            with open(place, encoding="ascii") as file:
                return file.read().strip()
    return ""


def replay(judgement: Judgement, task_path: str) -> str:
    """The command that judges the same cases once more."""
    settings = judgement.settings
    words = [f"{command()} judge", f"--task={task_path}", f"--seed={judgement.seed}",
             f"--cases={settings.cases}"]
    words += [f"--device={settings.device}"] if settings.device != "sm_90" else []
    words += [f"--entry={settings.entry}"] if settings.entry else []
    words += ["--isolation=off"] if not settings.full else []
    return " ".join(words + [judgement.candidate_path])


def receipt(judgement: Judgement) -> Dict[str, Any]:
    """The active checks, and the exactness of the simulated GPU for these instructions."""
    settings, task = judgement.settings, judgement.task
    used = instructions(judgement.ptx)
    used["not_simulated"] = sorted({
        raw.get("instruction", "") for call in judgement.calls for raw in call.answer["findings"]
        if raw.get("kind") == "refused" and raw.get("instruction")})
    return {
        "device": settings.device,
        "checks": ["bounds", "initialisation", "races", "synchronisation"],
        "schedules": judgement.schedules,
        "instructions_known": bool(judgement.ptx),
        "instructions": used,
        "library_calls": sorted({name for call in judgement.calls
                                 for name in call.answer["library_calls"]}),
        "isolation": isolation.enforced(settings.full, settings.limits, task.arrays != "lockstep",
                                        judgement.replayed),
        "compiler": judgement.candidate.compiler if judgement.candidate else "",
        "lockstep": _version(),
    }


def as_json(judgement: Judgement, task_path: str) -> Dict[str, Any]:
    candidate = judgement.candidate
    return {
        "schema": SCHEMA,
        "verdict": "accepted" if judgement.accepted else "rejected",
        "reasons": [r.json() for r in judgement.reasons.sorted()],
        "task": {"path": task_path, "name": judgement.task.name, "entry": judgement.task.entry},
        "candidate": {"path": judgement.candidate_path, "kind": candidate.kind if candidate else "",
                      "sha256": candidate.sha256 if candidate else ""},
        "cases": {"asked": judgement.settings.cases, "right": judgement.right_cases,
                  "calls": len(judgement.calls), "seed": judgement.seed,
                  "largest_error_over_bound": judgement.budget},
        "written": {"poisoned": True, "outputs": [p.array.name for p in
                                                  judgement.calls[0].outputs()]
                    if judgement.calls else []},
        "seconds": {k: round(v, 3) for k, v in judgement.seconds.items()},
        "replay": replay(judgement, task_path),
        "receipt": receipt(judgement),
    }


def _plain(text: str) -> str:
    """Removes terminal control characters: candidates can influence the text of reasons."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def as_text(judgement: Judgement, task_path: str) -> str:
    """One page of text for display."""
    reasons, asked = judgement.reasons.sorted(), judgement.settings.cases
    lines: List[str] = []
    head = "ACCEPTED" if judgement.accepted else f"REJECTED: {reasons[0].code}"
    lines.append(f"{head}  {judgement.candidate_path} for {judgement.task.name or task_path}")
    lines.append("")
    for reason in reasons[:8]:
        where = f", case {reason.case} call {reason.call}" if reason.call else ""
        lines.append(f"  {reason.code}: {CODES.get(reason.code, 'a finding of the simulated GPU')}"
                     f"{where}" + (f", {reason.times} times" if reason.times > 1 else ""))
        lines.append(_indented("\n".join(reason.text.splitlines()[:12])))
    if len(reasons) > 8:
        lines.append(f"  and {len(reasons) - 8} more reasons")
    if not judgement.accepted:
        lines.append("")
    lines.append(f"  {judgement.right_cases} of {asked} cases right, {len(judgement.calls)} calls "
                 f"({CALLS} a case: inputs, others, the first again)")
    if judgement.budget:
        lines.append(f"  largest error/bound of what matches: {judgement.budget:.3g}")
    if 0 < judgement.right_cases < asked and judgement.calls:
        wrong = sorted({c.case.text() for c in judgement.calls
                        if any(not o.matches for o in c.comparisons.values())})
        lines += [f"  wrong in {text}" for text in wrong[:4]]
    lines += ["", _receipt_text(receipt(judgement)), "",
              "  " + ", ".join(f"{k} {v:.2f} s" for k, v in judgement.seconds.items()),
              "  replay: " + replay(judgement, task_path)]
    return _plain("\n".join(lines)) + "\n"


def _receipt_text(made: Dict[str, Any]) -> str:
    lines = [f"  simulated {made['device']}; checks: {', '.join(made['checks'])}; schedules: " +
             (", ".join(map(str, made["schedules"])) or "none")]
    used = made["instructions"]
    if made["instructions_known"]:
        lines.append(f"  instructions: {len(used['exact'])} exact; approximate: " +
                     (", ".join(used["approximate"]) or "none") + "; matrix unit: " +
                     (", ".join(used["matrix_unit"]) or "none") + "; not simulated: " +
                     (", ".join(used["not_simulated"]) or "none"))
    else:
        lines.append("  instructions: not known, as the candidate compiles while it runs")
    if made["library_calls"]:
        lines.append("  computed by simulated libraries: " + ", ".join(made["library_calls"]))
    lines += [f"  {row['what']}: {row['how']}" for row in made["isolation"]]
    return "\n".join(lines)
