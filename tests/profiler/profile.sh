#!/bin/bash
# profile.sh PATTERNS: what the hardware counts of each launch of PATTERNS (patterns.cc, built for
# silicon), by NVIDIA's Nsight Compute: a line a launch on stdout, in the form that PATTERNS
# compares with on the simulated GPU. Launches that the transaction model says otherwise of are
# named on stderr.
set -euo pipefail
patterns=$(readlink -f "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

readonly METRICS=(
  l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_st.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
)
list=$(IFS=,; echo "${METRICS[*]}")
"$patterns" > "$scratch/model"
ncu --csv --clock-control none --cache-control none \
  --kernel-name regex:'gather_kernel|scatter_kernel' --print-units base \
  --metrics "$list" --log-file "$scratch/ncu" "$patterns" > "$scratch/run" ||
  { cat "$scratch/ncu" "$scratch/run" >&2; exit 1; }

gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
echo "# Requests and sectors of loads, requests and sectors of stores, as $gpu counted them:"
ncu_version=$(ncu --version | sed -nE 's/^Version ([0-9.]+).*/\1/p')
echo "# Nsight Compute $ncu_version, ${METRICS[0]} and its like." \
  "Written by tests/profiler/profile.sh."
python3 - "$scratch/model" "$scratch/ncu" "${METRICS[@]}" <<'PYTHON'
import csv
import sys

model, log, metrics = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(log) as file:
    lines = [line for line in file if line.startswith('"')]
counted = {}  # launch: metric: value
for row in csv.DictReader(lines):
    if row["ID"].isdigit():
        of_launch = counted.setdefault(int(row["ID"]), {})
        of_launch[row["Metric Name"]] = row["Metric Value"].replace(",", "")
launches = [line.rstrip("\n").split("\t") for line in open(model)]
if len(launches) != len(counted):
    sys.exit("%d launches; the profiler saw %d of them:\n%s" %
             (len(launches), len(counted), open(log).read()[-3000:]))
differ = 0
for (name, *expected), launch in zip(launches, sorted(counted)):
    values = ["%.0f" % float(counted[launch][metric]) for metric in metrics]
    print("\t".join([name] + values))
    if values != expected:
        differ += 1
        print("%s: counted %s, the model says %s" % (name, " ".join(values), " ".join(expected)),
              file=sys.stderr)
print("%d launches, %d differ from the model" % (len(launches), differ), file=sys.stderr)
PYTHON
