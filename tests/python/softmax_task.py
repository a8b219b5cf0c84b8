"""The softmax task of tasks.py, for the command line."""

from tasks import softmax

task = softmax
