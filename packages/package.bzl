"""packages: the files that users install, as one tree under a prefix, and archives of the tree.

    <name>.tar.xz   relocatable: unpack it anywhere
    <name>.deb      Debian 12 and later, under /usr
    <name>.whl      for pip, with the console script `lockstep`
    <name>.tar      the first without compression, which takes long; for tests

Equal contents give equal archives, byte for byte (pack.py).
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

HarnessInfo = provider(
    doc = "The harness for programs that are built elsewhere.",
    fields = {
        "archive": "the static library, with all that it needs but CUDA's runtime and the C and " +
              "C++ libraries",
        "headers": "a list of structs: file, and where it goes below include/lockstep",
    },
)

# Headers of libraries that the harness's own headers include: they come with it.
_THIRD_PARTY = ["eigen", "fmt", "googletest", "rapidcheck"]

# What these need beside is compiled into the archive.
_INSIDE = ["fmt", "googletest", "rapidcheck"]

def _repository(short_path):
    """The name of the external repository that a file is from, or None. (Module repositories:
    googletest~, +x+googletest.)"""
    if not short_path.startswith("../"):
        return None
    return short_path.split("/")[1].replace("~", "+").rstrip("+").split("+")[-1]

def _installed_header(f):
    """The path of a header below include/lockstep; None if it does not belong there."""
    repository = _repository(f.short_path)
    if not repository:
        # Parsed headers are of this build's compiler; their sources merely include others.
        own = not f.short_path.startswith("bazel/") and f.extension in ["h", "inc"]
        return f.short_path if own else None
    if repository not in _THIRD_PARTY:
        return None
    parts = f.short_path.split("/")[2:]
    return "/".join(["third_party", repository] + (parts[1:] if parts[0] == "include" else parts))

def _harness_archive_impl(ctx):
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    archives = []
    for linker_input in info.linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if not archive:
                continue
            repository = _repository(archive.short_path)
            if (not repository or repository in _INSIDE) and archive not in archives:
                archives.append(archive)
    archive = ctx.actions.declare_file(ctx.label.name + ".a")
    ctx.actions.run_shell(
        mnemonic = "MergeArchives",
        command = """set -e
out=$1; shift
{ echo "create $out"; printf 'addlib %s\\n' "$@"; echo save; echo end; } | ar -M
strip --strip-debug --enable-deterministic-archives "$out"
""",
        arguments = [archive.path] + [a.path for a in archives],
        inputs = archives,
        outputs = [archive],
        env = {"PATH": "/usr/bin:/bin"},
    )
    headers = [
        struct(file = f, place = _installed_header(f))
        for f in info.compilation_context.headers.to_list()
        if _installed_header(f)
    ]
    return [
        DefaultInfo(files = depset([archive])), HarnessInfo(archive = archive, headers = headers)
    ]

harness_archive = rule(
    implementation = _harness_archive_impl,
    doc = "The libraries `deps` and all of ours that they need, as <name>.a and a list of headers.",
    attrs = {"deps": attr.label_list(mandatory = True, providers = [CcInfo])},
)

def _packages_impl(ctx):
    harness = ctx.attr.harness[HarnessInfo]
    contents = [struct(file = harness.archive, place = "lib/lockstep/liblockstep_harness.a")]
    contents += [
        struct(file = h.file, place = "include/lockstep/" + h.place) for h in harness.headers
    ]
    for target, place in ctx.attr.files.items():
        for f in target.files.to_list():
            package = target.label.package
            below = f.short_path[len(package) + 1:] if package else f.short_path
            contents.append(
                struct(file = f, place = place + below if place.endswith("/") else place)
            )
    places = {}
    for c in contents:
        if places.get(c.place, c.file) != c.file:
            fail(
                "%s: both %s and %s would be %s" %
                (ctx.label, places[c.place].short_path, c.file.short_path, c.place)
            )
        places[c.place] = c.file
    listing = ctx.actions.declare_file(ctx.label.name + ".tsv")
    ctx.actions.write(
        listing, "".join(["%s\t%s\n" % (place, f.path) for place, f in sorted(places.items())])
    )
    for kind, out in [
        ("tar", ctx.outputs.tar),
        ("xz", ctx.outputs.xz),
        ("deb", ctx.outputs.deb),
        ("wheel", ctx.outputs.wheel),
    ]:
        ctx.actions.run(
            mnemonic = "Package",
            progress_message = "Packing %s" % out.short_path,
            executable = ctx.file._pack,
            arguments = [kind, ctx.file.version.path, listing.path, out.path],
            inputs = [listing, ctx.file.version] + places.values(),
            outputs = [out],
            env = {"PATH": "/usr/bin:/bin"},
        )
    return [DefaultInfo(files = depset([ctx.outputs.xz, ctx.outputs.deb, ctx.outputs.wheel]))]

packages = rule(
    implementation = _packages_impl,
    doc = "Packs the harness and `files` into the three archives.",
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "What goes in beside the harness -> its place below the prefix; below a " +
                  "folder, where that ends in /.",
        ),
        "harness": attr.label(mandatory = True, providers = [HarnessInfo]),
        "version": attr.label(mandatory = True, allow_single_file = True),
        "_pack": attr.label(default = "//packages:pack.py", allow_single_file = True),
    },
    outputs = {
        "deb": "%{name}.deb",
        "tar": "%{name}.tar",
        "wheel": "%{name}.whl",
        "xz": "%{name}.tar.xz",
    },
)
