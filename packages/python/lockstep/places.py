"""The places of Lockstep's programs and libraries: in a wheel, under a prefix, or in a checkout."""

import os
import shutil
from pathlib import Path


class NotInstalled(RuntimeError):
    """A part of Lockstep is missing; the message names it and the searched places."""


def package_root() -> Path:
    """The folder to put on PYTHONPATH, so that `import lockstep` finds this package."""
    return Path(__file__).resolve().parent.parent


def prefix() -> str:
    """The prefix: the value for CMAKE_PREFIX_PATH, and the folder that contains `bin/lockstep`."""
    inside = Path(__file__).resolve().parent / "prefix"
    if inside.is_dir():
        return str(inside)
    return str(package_root().parent.parent.parent)  # share/lockstep/python of a prefix


def command() -> str:
    """How a user calls the command: a checkout has it in its top folder."""
    return "./lockstep" if os.environ.get("LOCKSTEP_CHECKOUT") else "lockstep"


def exec_program() -> str:
    """The path of lockstep-exec, which starts programs on the simulated GPU.

    LOCKSTEP_TOOL_EXEC names it in a checkout. Raises NotInstalled if there is none.
    """
    named = os.environ.get("LOCKSTEP_TOOL_EXEC")
    places = [named] if named else [os.path.join(prefix(), "libexec/lockstep/lockstep-exec")]
    places += [p for p in [shutil.which("lockstep-exec")] if p]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise NotInstalled("there is no lockstep-exec (looked for " + ", ".join(places) + ")")


def cuda_homes() -> list:
    """Folders that may hold a CUDA toolkit, the likeliest first."""
    found = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        found.append(str(Path(nvcc).resolve().parent.parent))
    found.append("/usr/local/cuda")
    found += sorted((str(p) for p in Path("/usr/local").glob("cuda-*")), reverse=True)
    return [f for f in dict.fromkeys(found) if f and os.path.isdir(f)]


def nvcc() -> str:
    """The path of nvcc, or "" if there is none."""
    return toolkit_program("nvcc")


def toolkit_program(name: str) -> str:
    """The path of a program of the toolkit, such as ptxas, or "" if there is none."""
    for home in cuda_homes():
        if os.access(os.path.join(home, "bin", name), os.X_OK):
            return os.path.join(home, "bin", name)
    return shutil.which(name) or ""
