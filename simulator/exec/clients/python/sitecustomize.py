"""Installs the changes of `lockstep exec` in Python processes: see lockstep_imports.

Python imports the first module of this name on its path when it starts. If this file hides another
one, that one runs afterwards.
"""

import importlib.machinery
import os
import sys


def _run_hidden():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec  # milliseconds in every other process
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


import lockstep_imports

lockstep_imports.install()
_run_hidden()
