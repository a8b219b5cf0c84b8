"""A verdict, or a comparison, as one page for a browser: no script, and nothing from elsewhere."""

import html
from typing import Any, Dict, Iterable, List, Sequence

from lockstep.reasons import CODES

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto;
       padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; margin: 0; }} h2 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
h3 {{ font-size: 1rem; margin: 0; }} p {{ margin: .25rem 0; }}
.verdict {{ display: inline-block; padding: .15rem .6rem; border-radius: .3rem; color: #fff;
           font-weight: 600; }}
.accepted {{ background: #1a7f37; }} .rejected {{ background: #c02020; }}
article {{ border-left: 4px solid #c02020; margin: 1rem 0; padding-left: 1rem; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; font-size: 13px; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ padding: .2rem 1rem .2rem 0; text-align: left; vertical-align: top;
         border-bottom: 1px solid var(--line); }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
th {{ font-weight: 600; }} td:first-child {{ white-space: nowrap; }}
</style></head><body>
"""


def _text(value: Any) -> str:
    return html.escape(str(value))


def _table(rows: Iterable[Sequence[Any]]) -> str:
    return "<table>\n" + "".join(
        "<tr>" + "".join(f"<td>{_text(c)}</td>" for c in row) + "</tr>\n" for row in rows) + \
        "</table>\n"


def _badge(reasons: List[Dict[str, Any]]) -> str:
    kind = "rejected" if reasons else "accepted"
    code = f": {reasons[0]['code']}" if reasons else ""
    return f'<span class="verdict {kind}">{kind}{_text(code)}</span>'


def _reasons(reasons: List[Dict[str, Any]]) -> str:
    made = ""
    for reason in reasons:
        what = CODES.get(reason["code"], "a finding of the simulated GPU")
        where = [reason["place"]] if reason["place"] else []
        if reason["call"]:
            where.append(f"first in case {reason['case']}, call {reason['call']}")
        where += [f"{reason['times']} times"] if reason["times"] > 1 else []
        made += (f"<article><h3>{_text(reason['code'])}: {_text(what)}</h3>\n"
                 f"<p>{_text(', '.join(where))}</p>\n<pre>{_text(reason['text'])}</pre>"
                 "</article>\n")
    return made


def _receipt(made: Dict[str, Any]) -> str:
    used = made["instructions"]
    rows = [("device", f"simulated {made['device']}"), ("checks", ", ".join(made["checks"])),
            ("schedules", ", ".join(map(str, made["schedules"])) or "none")]
    if made["instructions_known"]:
        rows += [("instructions " + name.replace("_", " "), ", ".join(used[name]) or "none")
                 for name in ("approximate", "matrix_unit", "not_simulated", "exact")]
    else:
        rows.append(("instructions", "not known: no device code was seen"))
    if made["library_calls"]:
        rows.append(("simulated libraries", ", ".join(made["library_calls"])))
    rows += [("compiler", made["compiler"])] if made["compiler"] else []
    return "<h2>Receipt</h2>\n" + _table(rows) + "<h2>Isolation</h2>\n" + _table(
        (row["what"], row["how"]) for row in made["isolation"]) + \
        f"<p>Lockstep {_text(made['lockstep'])}</p>\n"


def of_verdict(made: Dict[str, Any]) -> str:
    """The page of a verdict, as verdict.as_json() gives it."""
    reasons, cases = made["reasons"], made["cases"]
    title = f"{made['candidate']['path']} for {made['task']['name'] or made['task']['path']}"
    page = _HEAD.format(title=_text(f"{made['verdict']}: {title}"))
    page += f"<h1>{_badge(reasons)} {_text(title)}</h1>\n"
    page += f"<p>{cases['right']} of {cases['asked']} cases right, {cases['calls']} calls"
    if cases["largest_error_over_bound"]:
        page += f"; largest error by its bound: {cases['largest_error_over_bound']:.3g}"
    page += "</p>\n" + ("<h2>Reasons</h2>\n" + _reasons(reasons) if reasons else "")
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in made["seconds"].items())
    page += f"<h2>The same cases again</h2>\n<pre>{_text(made['replay'])}</pre>\n"
    page += f"<p>{_text(seconds)}</p>\n"
    return page + _receipt(made["receipt"]) + \
        f"<p>SHA-256 of the candidate: <code>{_text(made['candidate']['sha256'])}</code></p>\n" \
        "</body></html>\n"


def _change(old: Any, new: Any) -> str:
    if old is None or new is None or old == new:
        return ""
    return f"{100 * (new - old) / old:+.1f}%" if old else f"+{new}"


def of_comparison(made: Dict[str, Any]) -> str:
    """The page of a comparison, as Compared.json() gives it."""
    sides = [made["old"], made["new"]]
    paths = [s["candidate"]["path"] for s in sides]
    page = _HEAD.format(title=_text(" → ".join(paths)))
    page += f"<h1>{_text(paths[0])} → {_text(paths[1])}</h1>\n<p>{_text(made['results'])}</p>\n"
    page += '<table>\n<tr><th></th><th class="n">old</th><th class="n">new</th>' \
        '<th class="n">change</th></tr>\n<tr><td>verdict</td>' + "".join(
            f'<td class="n">{_badge(s["reasons"])}</td>' for s in sides) + "<td></td></tr>\n"
    for name, counts in made["counters"].items():
        old, new = counts["old"], counts["new"]
        if old is None and new is None:
            continue
        cells = ["?" if old is None else old, "?" if new is None else new, _change(old, new)]
        page += f"<tr><td>{_text(name)}</td>" + "".join(
            f'<td class="n">{_text(c)}</td>' for c in cells) + "</tr>\n"
    page += "</table>\n"
    if made["new_reasons"]:
        page += "<h2>New reasons</h2>\n" + _reasons(made["new_reasons"])
    if made["gone_reasons"]:
        page += f"<h2>Gone</h2>\n<p>{_text(', '.join(made['gone_reasons']))}</p>\n"
    return page + f"<h2>The same cases again</h2>\n<pre>{_text(made['new']['replay'])}</pre>\n" + \
        _receipt(made["new"]["receipt"]) + "</body></html>\n"


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
