"""The places of Lockstep's programs and libraries: in a wheel, under a prefix, or in a checkout."""

import os


class NotInstalled(RuntimeError):
    """A part of Lockstep is missing; the message names it and the searched places."""


def _on_path(program: str) -> str:
    """The program's path, or ""."""
    import shutil  # its import takes longer than that of all the rest
    return shutil.which(program) or ""


def package_root() -> str:
    """The folder to put on PYTHONPATH, so that `import lockstep` finds this package."""
    return _above(os.path.realpath(__file__), 2)


def _above(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path


def prefix() -> str:
    """The prefix: the value for CMAKE_PREFIX_PATH, and the folder that contains `bin/lockstep`."""
    inside = os.path.join(_above(os.path.realpath(__file__), 1), "prefix")
    if os.path.isdir(inside):
        return inside
    return _above(package_root(), 3)  # share/lockstep/python of a prefix


def command() -> str:
    """How a user calls the command: a checkout has it in its top folder."""
    return "./lockstep" if os.environ.get("LOCKSTEP_CHECKOUT") else "lockstep"


def exec_program() -> str:
    """The path of lockstep-exec, which starts programs on the simulated GPU.

    LOCKSTEP_TOOL_EXEC names it in a checkout. Raises NotInstalled if there is none.
    """
    named = os.environ.get("LOCKSTEP_TOOL_EXEC")
    places = [named] if named else [os.path.join(prefix(), "libexec/lockstep/lockstep-exec")]
    places += [p for p in [_on_path("lockstep-exec")] if p]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise NotInstalled("there is no lockstep-exec (looked for " + ", ".join(places) + ")")


def cuda_homes() -> list:
    """Folders that may hold a CUDA toolkit, the likeliest first."""
    found = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    nvcc = _on_path("nvcc")
    if nvcc:
        found.append(_above(os.path.realpath(nvcc), 2))
    found.append("/usr/local/cuda")
    versions = os.listdir("/usr/local") if os.path.isdir("/usr/local") else []
    found += sorted((f"/usr/local/{v}" for v in versions if v.startswith("cuda-")), reverse=True)
    return [f for f in dict.fromkeys(found) if f and os.path.isdir(f)]


def nvcc() -> str:
    """The path of nvcc, or "" if there is none."""
    return toolkit_program("nvcc")


def toolkit_program(name: str) -> str:
    """The path of a program of the toolkit, such as ptxas, or "" if there is none."""
    for home in cuda_homes():
        if os.access(os.path.join(home, "bin", name), os.X_OK):
            return os.path.join(home, "bin", name)
    return _on_path(name)
