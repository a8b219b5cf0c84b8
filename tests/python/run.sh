#!/bin/bash
# run.sh LOCKSTEP-EXEC TOOLKIT-STAMP TEST [WORD...]: a test of this folder with Debian's Python.
set -eu
LOCKSTEP_TOOL_EXEC=$PWD/$1
LOCKSTEP_TOOL_PYTHON=$PWD/packages/python_tool.sh
CUDA_HOME=$(head -1 "$2")
PYTHONPATH=$PWD/packages/python:$PWD/tests/python
export CUDA_HOME LOCKSTEP_TOOL_EXEC LOCKSTEP_TOOL_PYTHON PYTHONPATH PYTHONDONTWRITEBYTECODE=1
# As QUICK_NVCC_COPTS of bazel/copts.bzl: a third of the time for a candidate with host code.
export NVCC_APPEND_FLAGS=-D_GLIBCXX_BITS_SPECFUN_H
unset LOCKSTEP_DEVICE LOCKSTEP_CHECKS
exec /usr/bin/python3 "tests/python/$3" "${@:4}"
