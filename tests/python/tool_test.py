#!/usr/bin/python3
"""The commands `lockstep judge` and `lockstep compare`: output, JSON, exit status, replay, and
errors of usage."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

_HERE = os.path.dirname(os.path.abspath(__file__))


def tool(*words, cwd=_HERE):
    done = subprocess.run([os.environ["LOCKSTEP_TOOL_PYTHON"], *words], cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def judged(candidate, *words, task="softmax_task.py"):
    status, out, err = tool("judge", f"--task={task}", "--json=-", *words, candidate)
    assert not err, err
    return status, json.loads(out)


@pytest.fixture
def wrong(tmp_path):
    """softmax.cu without its last column."""
    with open(os.path.join(_HERE, "candidates/softmax.cu"), encoding="utf-8") as file:
        text = file.read()
    path = tmp_path / "wrong.cu"
    path.write_text(text.replace("i < columns; i += 128) out", "i < columns - 1; i += 128) out"))
    return str(path)


def test_a_verdict_as_json():
    status, made = judged("candidates/softmax.cu", "--cases=3")
    assert status == 0
    assert made["schema"] == "lockstep.verdict/1"
    assert (made["verdict"], made["reasons"]) == ("accepted", [])
    assert made["cases"]["right"] == 3 and made["cases"]["calls"] == 9
    assert 0 < made["cases"]["largest_error_over_bound"] <= 1
    receipt = made["receipt"]
    assert receipt["device"] == "sm_90" and receipt["instructions_known"]
    assert receipt["instructions"]["approximate"] == ["ex2.approx.ftz.f32"]
    assert receipt["instructions"]["not_simulated"] == []
    assert [row["what"] for row in receipt["isolation"]] == [
        "time", "memory", "file size", "network", "files", "task", "processes", "privileges"]
    assert receipt["compiler"].startswith("NVRTC ")
    assert made["seconds"]["total"] < 60


def test_the_option_that_the_command_has_read_is_passed_on():
    status, made = judged("candidates/softmax.cu", "--config=none", "--cases=1")
    assert (status, made["verdict"]) == (0, "accepted")


def conforms(value, schema, where="verdict"):
    """Raises AssertionError if a value violates a JSON Schema. Supports the keywords that the
    schema of a verdict uses. A key that the schema does not define is an error."""
    if "enum" in schema:
        assert value in schema["enum"], where
        return
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
             "number": (int, float)}
    assert isinstance(value, kinds[schema["type"]]), where
    assert schema["type"] == "boolean" or not isinstance(value, bool), where
    if schema["type"] == "array":
        for i, item in enumerate(value):
            conforms(item, schema["items"], f"{where}[{i}]")
    if schema["type"] == "object":
        assert not set(schema["required"]) - set(value), where
        for key, inner in value.items():
            assert key in schema["properties"], f"{where}.{key}"
            conforms(inner, schema["properties"][key], f"{where}.{key}")


def test_verdicts_conform_to_their_schema(wrong):
    path = os.path.join(_HERE, "../../docs/reference/verdict.schema.json")
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    for candidate in ("candidates/softmax.cu", wrong, "candidates/relu.py"):
        conforms(judged(candidate, "--cases=2")[1], schema)
    with pytest.raises(AssertionError, match="verdict.reasons"):
        conforms({**judged(wrong, "--cases=1")[1], "reasons": [{"code": 3}]}, schema)


def test_every_key_of_a_verdict_stands_in_its_reference_page(wrong):
    """Keys and codes that the page does not list."""
    page_path = os.path.join(_HERE, "../../docs/reference/verdict.md")
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    _, made = judged(wrong, "--cases=2")

    def keys(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                if key not in ("seconds",):
                    yield from keys(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from keys(inner)
    from lockstep.reasons import CODES
    missing = {k for k in [*keys(made), *CODES] if f"`{k}`" not in page}
    assert not missing
    assert made["schema"] in page


def test_a_page_of_text_and_its_replay(wrong):
    status, out, _ = tool("judge", "--task=softmax_task.py", "--cases=4", wrong)
    assert status == 1
    assert out.startswith("REJECTED: unwritten-output")
    assert len(out.splitlines()) < 60
    replay = shlex.split(re.search(r"replay: lockstep (.*)", out).group(1))
    again, once_more, _ = tool(*replay)
    cut = lambda text: [line for line in text.splitlines() if "compile " not in line]  # noqa: E731
    assert (again, cut(once_more)) == (status, cut(out))


def test_a_checkout_has_its_command_in_its_folder(wrong, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_CHECKOUT", "/a/checkout")
    _, out, _ = tool("judge", "--task=softmax_task.py", "--cases=1", wrong)
    assert "replay: ./lockstep judge --task=softmax_task.py --seed=" in out
    status, _, err = tool("judge", wrong)
    assert status == 2 and "./lockstep judge --help lists its options" in err


def test_a_page_for_a_browser(wrong, tmp_path):
    """Its reasons and its replay, and text of the candidate as text."""
    page = tmp_path / "page.html"
    odd = os.path.join(os.path.dirname(wrong), "<b>&.cu")
    os.rename(wrong, odd)
    status, _, _ = tool("judge", "--task=softmax_task.py", "--cases=2", f"--html={page}", odd)
    text = page.read_text(encoding="utf-8")
    assert status == 1 and "rejected: unwritten-output</span>" in text
    assert "&lt;b&gt;&amp;.cu" in text and "<b>" not in text and "<script" not in text
    assert "lockstep judge --task=softmax_task.py --seed=" in text
    tool("compare", "--task=stencil_task.py", "--cases=2", f"--html={page}",
         "candidates/stencil.cu", "candidates/stencil_tiles.cu")
    text = page.read_text(encoding="utf-8")
    assert text.count("accepted</span>") == 2 and "the same bits in" in text


def test_a_task_whose_reference_raises(tmp_path):
    """It is wrong, and the candidate is not."""
    task = tmp_path / "task.py"
    task.write_text("from lockstep.contract import Input, Output, Size, Task\n"
                    "n = Size('n', 1, 9)\n"
                    "task = Task(entry='relu', reference=lambda x: x, arguments=[\n"
                    "    Input('x', 'f32', (n,)), Output('y', 'f32', (n,)), n])\n")
    status, out, err = tool("judge", f"--task={task}", "candidates/relu.cu")
    assert (status, out) == (2, "")
    assert "the reference raised TypeError: " in err and "It gets x, n by name" in err
    assert "Traceback" not in err


def test_a_missing_task_and_a_missing_kernel(tmp_path):
    status, _, err = tool("judge", "candidates/relu.cu")
    assert (status, len(err.splitlines())) == (2, 2) and "--task" in err
    status, out, _ = tool("judge", "--task=softmax_task.py", "candidates/relu.cu")
    assert status == 1 and "its kernels: relu" in out


def test_a_reader_that_has_gone_changes_nothing():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([os.environ["LOCKSTEP_TOOL_PYTHON"], "judge", "--task=softmax_task.py",
                           "--cases=1", "candidates/softmax.cu"], cwd=_HERE, stdout=writer,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_seeds_are_hidden_and_differ():
    seeds = {judged("candidates/softmax.cu", "--cases=1")[1]["cases"]["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_without_isolation_the_receipt_says_so():
    _, made = judged("candidates/softmax.cu", "--cases=1", "--isolation=off")
    assert [row["what"] for row in made["receipt"]["isolation"]] == ["time", "memory", "file size"]
    assert "--isolation=off" in made["replay"]


def test_a_reference_kernel(tmp_path):
    task = tmp_path / "task.py"
    task.write_text(f"""
import dataclasses, sys
sys.path.insert(0, {_HERE!r})
import tasks
task = dataclasses.replace(tasks.relu, reference={_HERE + '/candidates/relu.cu'!r})
""")
    assert judged("candidates/relu.py", "--cases=3", task=str(task))[0] == 0
    other = tmp_path / "other.cu"
    with open(os.path.join(_HERE, "candidates/relu.cu"), encoding="utf-8") as file:
        other.write_text(file.read().replace(": 0.0f", ": -0.0f"))
    status, made = judged(str(other), "--cases=3", task=str(task))
    assert status == 1 and made["reasons"][0]["code"] in ("wrong-result", "precision")


def test_ptx_is_a_candidate(tmp_path):
    from lockstep.compiler import compile_ptx
    path = tmp_path / "softmax.ptx"
    path.write_text(compile_ptx(os.path.join(_HERE, "candidates/softmax.cu")).ptx)
    assert judged(str(path), "--cases=2")[0] == 0
    path.write_text(path.read_text().replace("st.global.f32", "st.global.f33"))
    status, made = judged(str(path), "--cases=2")
    assert status == 1 and made["reasons"][0]["code"] == "load"


@pytest.mark.parametrize("text, message", [
    ("task = 3\n", "defines no `task`"),
    ("x = 0\n1 / 0\n", "task.py, line 2: ZeroDivisionError"),
    ("def f(:\n", "task.py, line 1: SyntaxError"),
    ("from lockstep.contract import *\nTask(entry='f', arguments=[], reference='x')\n",
     "task.py, line 2: no argument is an Output or InOut, so nothing can be judged"),
    ("from lockstep.contract import *\ndef wrong(**_):\n  return {}[0]\n"
     "task = Task(entry='softmax', arguments=[Output('y', 'f32', (4,))], reference=wrong)\n",
     "task.py, line 3: the reference raised KeyError"),
    ("from lockstep.contract import *\nimport numpy as np\n"
     "task = Task(entry='softmax', arguments=[Input('x', 'f32', (4, 4)), Output('y', 'f32', (4, 4)"
     "), Size('r', 4, 4), Size('c', 4, 4)], reference=lambda **_: np.zeros(3))\n",
     "the reference's y has the shape (3,)"),
])
def test_a_bad_task_is_an_error(tmp_path, text, message):
    task = tmp_path / "task.py"
    task.write_text(text)
    status, out, err = tool("judge", f"--task={task}", "candidates/softmax.cu")
    assert (status, out) == (2, "")
    assert message in err and len(err.splitlines()) == 1


def test_the_guide_shows_what_its_example_does(tmp_path):
    root = os.path.dirname(os.path.dirname(_HERE))
    with open(f"{root}/docs/guide/judging_a_kernel.md", encoding="utf-8") as file:
        page = file.read()

    def require_in_order(shown, whole):
        lines = iter(whole.splitlines())
        for line in shown.splitlines():
            assert line.strip() in ("", "…") or line in lines, line

    with open(f"{root}/examples/judging/softmax_task.py", encoding="utf-8") as file:
        require_in_order(re.search(r"```python\n(.*?)```", page, re.S).group(1), file.read())
    for name in ("softmax_task.py", "softmax.cu"):
        shutil.copy(f"{root}/examples/judging/{name}", tmp_path)
    commands = re.search(r"```\n\$ (grep .*?)```", page, re.S).group(1).split("\n$ ")
    subprocess.run(commands[0], shell=True, check=True, cwd=tmp_path)
    for judging in commands[1:]:
        words = judging.splitlines()[0].split()[1:]
        status, out, err = tool(*words, cwd=tmp_path)
        assert (status, err) == (int("wrong.cu" in words), "")
        require_in_order(judging.split("\n", 1)[1], out.replace(f"{tmp_path}/", ""))


def test_a_missing_file_is_an_error(monkeypatch):
    monkeypatch.delenv("LOCKSTEP_PYTHON")  # python_tool.sh looks for one
    assert tool("judge", "--task=nowhere.py", "candidates/softmax.cu")[0] == 2
    status, _, err = tool("judge", "--task=softmax_task.py", "nowhere.cu")
    assert status == 2 and "nowhere.cu: No such file" in err


def test_compare_equal_faster_and_wrong():
    def compared(new):
        status, out, _ = tool("compare", "--task=stencil_task.py", "--seed=1", "--json=-",
                              "--cases=6", "candidates/stencil.cu", f"candidates/{new}.cu")
        return status, json.loads(out)
    status, made = compared("stencil_equal")
    assert (status, made["schema"], made["same_bits"]) == (0, "lockstep.comparison/1", True)
    assert all(c["old"] == c["new"] for c in made["counters"].values())
    status, made = compared("stencil_tiles")
    loaded = made["counters"]["sectors loaded"]
    assert (status, made["same_bits"], made["new_reasons"]) == (0, True, [])
    assert loaded["new"] * 4 < loaded["old"]
    status, made = compared("stencil_wrong")
    assert (status, made["same_bits"]) == (1, False)
    assert made["differing"] > 0
    assert [r["code"] for r in made["new_reasons"]][0] == "uninitialised"
    assert made["new_reasons"][0]["place"].endswith("stencil_wrong.cu:15")


def test_compare_as_a_table():
    status, out, _ = tool("compare", "--task=stencil_task.py", "--seed=1", "--cases=3",
                          "candidates/stencil.cu", "candidates/stencil_tiles.cu")
    assert status == 0
    assert re.search(r"sectors loaded +\d+ +\d+ +-\d+\.\d%", out)
    assert re.search(r"registers +\d+ +\d+", out)
    assert "results: the same bits in 9 outputs" in out


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
