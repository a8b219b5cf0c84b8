"""clang_objects: sources without optimisation, compiled by clang.

Tests, writers of reports and the command run for less time than they take to compile, so they are
not optimised. clang needs half of GCC's time for such a source. All that is optimised is compiled
by GCC. The objects can be linked with each other.

docs/reference/building.md says when clang is used.
"""

load("@local_clang//:clang.bzl", "CLANG")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":copts.bzl", "IS_MAIN_WORKSPACE")

ParsedByClangInfo = provider(
    doc = "A header in clang's parsed form.",
    fields = {"parsed": "the file"},
)

def clang_arguments(ctx, context, copts):
    """Arguments of a compilation with the headers of `context`, as Bazel gives them to GCC."""
    args = ctx.actions.args()
    args.add(CLANG)

    # The collector of garbage that .bazelrc sets is GCC's.
    args.add_all([
        copt for copt in ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts
        if not copt.startswith("--param")
    ])
    args.add_all([
        "-fPIC",
        "-fno-omit-frame-pointer",
        "-fstack-protector",
        "-Wall",
        "-Wno-deprecated-declarations",  # libstdc++'s std::stable_sort
    ])
    args.add_all(copts)
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.quote_includes, before_each = "-iquote")
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    return args

def run_clang(ctx, args, source, out, headers, more_inputs = []):
    """Declares the action that compiles `source` with `args` to `out`."""
    args.add_all(["-c", source, "-o", out])
    unread = ctx.actions.declare_file(out.basename + ".unread", sibling = out)
    listing = ctx.actions.args()
    listing.set_param_file_format("multiline")
    listing.use_param_file("%s", use_always = True)
    listing.add_all(headers)
    ctx.actions.run(
        mnemonic = "ClangCompile",
        progress_message = "Compiling %s with clang" % source.short_path,
        executable = ctx.file._clang_wrap,
        arguments = [unread.path, listing, args],
        inputs = depset([source] + more_inputs, transitive = [headers]),
        outputs = [out, unread],
        unused_inputs_list = unread,
        env = {"PATH": "/usr/bin:/bin"},
    )

def _clang_objects_impl(ctx):
    library = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps + [ctx.attr.header]]
    )
    context = library.compilation_context
    headers = depset(ctx.files.hdrs, transitive = [context.headers])
    parsed = ctx.attr.header[ParsedByClangInfo].parsed if ctx.files.srcs else None
    objects = []
    for source in ctx.files.srcs:
        place = source.short_path[len(ctx.label.package):].lstrip("/")
        out = ctx.actions.declare_file("_clang/%s/%s.o" % (ctx.label.name, place))
        args = clang_arguments(ctx, context, ctx.attr.copts)
        args.add_all([".", ctx.bin_dir.path], before_each = "-iquote")  # the rule's own headers
        args.add_all(["-include-pch", parsed])
        run_clang(ctx, args, source, out, headers, [parsed])
        objects.append(out)
    if not objects:
        return [library]
    cc_toolchain = find_cc_toolchain(ctx)
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = cc_toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        cc_toolchain = cc_toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset(objects),
            pic_objects = depset(objects),
        ),
        linking_contexts = [library.linking_context],
        alwayslink = ctx.attr.alwayslink,
        disallow_dynamic_library = True,
    )
    return [
        DefaultInfo(files = depset(objects)),
        CcInfo(compilation_context = library.compilation_context, linking_context = linking),
    ]

_clang_objects = rule(
    implementation = _clang_objects_impl,
    doc = "A library of sources that clang compiles. Each begins with `header`.",
    attrs = {
        "alwayslink": attr.bool(doc = "Link all objects, used or not."),
        "copts": attr.string_list(doc = "Further options."),
        "deps": attr.label_list(providers = [CcInfo], doc = "What the sources include."),
        "hdrs": attr.label_list(
            allow_files = True, doc = "Further files that the sources include."
        ),
        "header": attr.label(mandatory = True, providers = [CcInfo], doc = "A precompiled_header."),
        "srcs": attr.label_list(allow_files = [".cc"], doc = "The sources."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_clang_wrap": attr.label(default = "//bazel:clang_wrap.sh", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
    provides = [CcInfo],
)

_ON = "//bazel/precompiled:by_clang"

# What a test with JSON begins with (JSON_TEST_COPTS).
_JSON_HEADER = ["-include", "lockstep_gtest_json.h"]

# Whether clang compiles anything. A user's workspace decides about its own compiler.
_HAS_CLANG = bool(CLANG) and IS_MAIN_WORKSPACE

def by_clang(value, otherwise):
    """`value` in a build in which clang compiles what is not optimised, else `otherwise`."""
    if not _HAS_CLANG:
        return otherwise
    return select({_ON: value, "//conditions:default": otherwise})

def allows_clang(copts):
    """Whether clang may compile sources with these options: they are not optimised."""
    return _HAS_CLANG and not [copt for copt in copts if copt.startswith("-O")]

def clang_objects(name, srcs, header, copts = [], local_defines = [], **kwargs):
    """Declares the library `name`, which has the objects of `srcs` in a build in which clang
    compiles them, and nothing in any other build.

    Args:
      name: the library.
      srcs: sources without optimisation.
      header: the precompiled_header with which each begins.
      copts: their options.
      local_defines: their macros.
      **kwargs: further attributes of the rule.
    """
    _clang_objects(
        name = name,
        srcs = by_clang(srcs, []),
        copts = copts + [
            # Bazel reads the macros as a shell does.
            "-D" + define.replace("\\\"", "\"")
            for define in local_defines
        ],
        header = header,
        **kwargs
    )

def tests_by_clang(name, srcs, copts, **kwargs):
    """clang_objects of tests, which begin with GoogleTest's header.

    Args:
      name: the library.
      srcs: sources *_test.cc without optimisation.
      copts: their options, with or without JSON_TEST_COPTS.
      **kwargs: further arguments of clang_objects.
    """
    with_json = _JSON_HEADER[1] in copts
    clang_objects(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = [copt for copt in copts if not with_json or copt not in _JSON_HEADER],
        header = "//bazel/gtest:json" if with_json else "//bazel/gtest",
        alwayslink = True,
        **kwargs
    )
