"""The stencil of tasks.py, as a file for the command line."""

from tasks import stencil

task = stencil
