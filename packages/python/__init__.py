"""Lockstep as a Python package: its programs, libraries and headers lie in the folder that
prefix() names."""
import os
import sys


def prefix():
    """What CMake takes as CMAKE_PREFIX_PATH, and what `bin/lockstep` is under."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix")


def main():
    """The console script: becomes the program."""
    program = os.path.join(prefix(), "bin", "lockstep")
    os.execv(program, [program] + sys.argv[1:])
