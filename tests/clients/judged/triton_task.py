"""Row softmax for a candidate that receives PyTorch tensors."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))

import dataclasses

import tasks

task = dataclasses.replace(tasks.softmax, arrays="torch")
