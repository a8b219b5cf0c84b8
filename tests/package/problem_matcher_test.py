#!/usr/bin/python3
"""The problem matcher for VS Code reads the lines of `lockstep exec --annotations=lines`."""
import json
import re
import sys

with open("packages/vscode/tasks.json", encoding="utf-8") as file:
    matcher = json.load(file)["tasks"][0]["problemMatcher"]
with open("tests/whole/exec_lines.txt", encoding="utf-8") as file:
    lines = file.read().splitlines()
pattern = matcher["pattern"]
wrong, found = 0, 0
# Of a finding without a source file there is nothing to mark.
for line in lines + ["lockstep: error: leak: something",
                     "lockstep: 1 launch of 1 kernel on a simulated sm_90: 1 error"]:
    match = re.match(pattern["regexp"], line)
    placed = not line.startswith("lockstep: ")
    if placed != (match is not None):
        wrong += 1
        print(f"{'not read' if placed else 'read'}: {line}")
    if match is None:
        continue
    found += 1
    rebuilt = "{}:{}: {}: {}".format(*(match.group(pattern[part])
                                       for part in ("file", "line", "severity", "message")))
    if rebuilt != line:
        wrong += 1
        print(f"its parts are {match.groups()}: {line}")
severities = {re.match(pattern["regexp"], line).group(pattern["severity"])
              for line in lines if re.match(pattern["regexp"], line)}
if found < 3 or not {"error", "note"} <= severities:
    wrong += 1
    print(f"only {found} lines with {sorted(severities)}: too few to test with")
print(f"{found} of {len(lines)} lines read, {wrong} wrong")
sys.exit(wrong != 0)
