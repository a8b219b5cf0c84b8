"""drop_in_library: a shared library of ours that replaces a vendor's, under the vendor's
soname."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")

def drop_in_library(name, soname, deps, version_script, headers = [], visibility = None):
    """Declares the shared library `<soname>` and the library `name` that links it.

    All deps are linked into the file statically; it needs only the C and C++ runtimes. It exports
    only the symbols in `version_script`, and binds its own symbols to itself, so that a user may
    have another version of any library inside.

    Args:
      name: the library for users.
      soname: the file's name, such as "libcudart.so.13".
      deps: the contents; entry points need alwayslink.
      version_script: a linker version script: the exported symbols and their versions.
      headers: libraries of headers for users.
      visibility: of both.
    """
    cc_binary(
        name = soname,
        linkshared = True,
        linkopts = [
            "-Wl,-soname," + soname,
            "-Wl,--version-script=$(location %s)" % version_script,
            "-Wl,--no-undefined",
            "-Wl,-Bsymbolic",
            "-Wl,--exclude-libs,ALL",
            # Its functions run at the end of the process: they must stay loaded if the program
            # closes the library earlier.
            "-Wl,-z,nodelete",
            "-ldl",
            "-pthread",
        ],
        visibility = visibility,
        deps = deps + [version_script],
    )
    cc_library(
        name = name,
        srcs = [soname],
        visibility = visibility,
        deps = headers,
    )
