"""Repository rule: this machine's clang, for the sources of tests (clang.bzl)."""

# From the distribution's package (bazel/setup/packages.sh).
_CLANG = "/usr/bin/clang++-19"

def _local_clang_impl(rctx):
    rctx.file("clang.bzl", "\n".join([
        '"""Written by //bazel:local_clang.bzl."""',
        "",
        "CLANG = %s" % repr(_CLANG if rctx.path(_CLANG).exists else ""),
        "",
    ]))
    rctx.file("BUILD.bazel", "")

local_clang = repository_rule(
    implementation = _local_clang_impl,
    doc = "@local_clang//:clang.bzl: CLANG, the compiler's path, or \"\" on a machine without it.",
    configure = True,
    local = True,
)
