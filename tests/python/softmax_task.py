"""The softmax of tasks.py, as a file for the command line."""

from tasks import softmax

task = softmax
