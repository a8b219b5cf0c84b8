"""The stencil task of tasks.py, for the command line."""

from tasks import stencil

task = stencil
