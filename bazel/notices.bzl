"""Repository rule: the licences of the libraries whose parts are in the packages, as stated by
Debian's packages."""

# Library -> the Debian package whose copyright file covers it.
_LIBRARIES = {
    "CLI11": "libcli11-dev",
    "D3": "libjs-d3",
    "Eigen": "libeigen3-dev",
    "GoogleTest": "libgtest-dev",
    "JSON for Modern C++": "nlohmann-json3-dev",
    "LZ4": "liblz4-dev",
    "RapidCheck": "librapidcheck-dev",
    "Xbyak": "libxbyak-dev",
    "xxHash": "libxxhash-dev",
    "Zstandard": "libzstd-dev",
    "{fmt}": "libfmt-dev",
}

_HEAD = """Lockstep's packages hold parts of the libraries below, in binary form or, of Eigen, fmt
and GoogleTest, as headers. Their copyrights and licences follow, as Debian's packages state them.
NVIDIA's software is not in the packages.
"""

def _notices_impl(rctx):
    text = _HEAD
    for library, package in sorted(_LIBRARIES.items()):
        path = "/usr/share/doc/%s/copyright" % package
        if not rctx.path(path).exists:
            fail(
                "\n@notices: this machine has no %s, which Debian's package %s brings." %
                (path, package)
            )
        text += "\n%s\n%s (%s)\n%s\n\n%s" % (
            "=" * 100, library, package, "=" * 100, rctx.read(path)
        )
    rctx.file("THIRD_PARTY_NOTICES", text)
    rctx.file("BUILD.bazel", 'exports_files(["THIRD_PARTY_NOTICES"])\n')

notices_repository = repository_rule(
    implementation = _notices_impl,
    doc = "@notices//:THIRD_PARTY_NOTICES.",
    local = True,
)
