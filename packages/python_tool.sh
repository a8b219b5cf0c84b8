#!/bin/sh
# Becomes the Python package's command, `judge` or `compare`. LOCKSTEP_PYTHON: the interpreter, as
# the wheel's console script sets it; else the first that has NumPy.
here=$(dirname "$(readlink -f "$0")")
# In a checkout, under a prefix, and in a wheel, where the prefix is lockstep/prefix.
for package in "$here/python" "$here/../../share/lockstep/python" "$here/../../../.."; do
  [ -f "$package/lockstep/tool.py" ] && break
done
PYTHONPATH=$(readlink -f "$package")${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
python=${LOCKSTEP_PYTHON:-}
for found in python3 /usr/bin/python3; do
  [ -n "$python" ] && break
  "$found" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("numpy"))' 2> /dev/null &&
    python=$found
done
exec "${python:-python3}" -m lockstep.tool "$@"
