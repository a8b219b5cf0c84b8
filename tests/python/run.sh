#!/bin/bash
# run.sh LOCKSTEP-EXEC TOOLKIT-STAMP TEST [WORD...]: a test of this folder with Debian's Python.
set -eu
LOCKSTEP_TOOL_EXEC=$PWD/$1
# A copy that is compiled once, as an installed package, and not in each of many processes.
packages=$TEST_TMPDIR/packages
mkdir -p "$packages"
cp -RL packages/python packages/python_tool.sh "$packages"
/usr/bin/python3 -m compileall -q "$packages/python/lockstep"
LOCKSTEP_TOOL_PYTHON=$packages/python_tool.sh LOCKSTEP_PYTHON=/usr/bin/python3
CUDA_HOME=$(head -1 "$2")
PYTHONPATH=$packages/python:$PWD/tests/python
export CUDA_HOME LOCKSTEP_TOOL_EXEC LOCKSTEP_TOOL_PYTHON LOCKSTEP_PYTHON PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1
# As QUICK_NVCC_COPTS of bazel/copts.bzl: a third of the time for a candidate with host code.
export NVCC_APPEND_FLAGS=-D_GLIBCXX_BITS_SPECFUN_H
unset LOCKSTEP_DEVICE LOCKSTEP_CHECKS
exec /usr/bin/python3 "tests/python/$3" "${@:4}"
