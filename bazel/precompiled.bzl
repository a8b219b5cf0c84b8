"""precompiled_header: headers of a library, parsed once for all sources that begin with them.

GoogleTest's header is half of a small test's compile time, and there are more than a hundred such
tests. GCC uses the parsed form if a source includes the header first and has options that GCC
treats as equal; otherwise it uses the header itself. GCC treats -O1, -O2 and -O3, and some other
options, as equal, so each set of options needs a variant. With -c opt every variant is optimised,
and GCC would use the first that it finds; a header with several variants is then not parsed.
`-include` puts the header first: in .bazelrc for tests, in cc.bzl for other sources.
"""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":clang.bzl", "ParsedByClangInfo", "clang_arguments", "run_clang")
load(":copts.bzl", "STANDARD_COPTS")

def parsed_variants(variants, compilation_mode):
    """The variants of a header that are parsed: none if GCC could not distinguish them."""
    return {} if len(variants) > 1 and compilation_mode == "opt" else variants

def _precompile(ctx, header, parsed, copts, context):
    cc_toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        source_file = header.path,
        output_file = parsed.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + STANDARD_COPTS +
            copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    ctx.actions.run(
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, cc_toolchain.all_files]),
        outputs = [parsed],
    )

def _precompile_by_clang(ctx, header, copts, context):
    parsed = ctx.actions.declare_file("%s/%s.pch" % (ctx.label.name, ctx.attr.header))
    args = clang_arguments(ctx, context, STANDARD_COPTS + copts)
    args.add_all([
        "-xc++-header",
        # Templates that the header uses are compiled once, not in each source.
        "-fpch-instantiate-templates",
        # Sandboxes and caches keep no times.
        "-Xclang",
        "-fno-pch-timestamp",
    ])
    run_clang(ctx, args, header, parsed, context.headers)
    return ParsedByClangInfo(parsed = parsed)

def _precompiled_header_impl(ctx):
    library = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    header = ctx.actions.declare_file("%s/%s" % (ctx.label.name, ctx.attr.header))

    # Bazel does not know the parsed forms as inputs, because no list of dependencies names them. It
    # knows the header: if a variant's options change, the header changes too, and all sources that
    # begin with it are compiled again.
    ctx.actions.write(header, "".join(
        ["// %s: %s\n" % (name, " ".join(copts)) for name, copts in ctx.attr.variants.items()] +
        ["#include <%s>\n" % name for name in ctx.attr.includes],
    ))
    headers = [header]
    providers = []

    # Another compiler has another form for parsed headers, and other rules for their use. GCC
    # searches a folder.
    if find_cc_toolchain(ctx).compiler in ["compiler", "gcc"]:
        for name, copts in parsed_variants(ctx.attr.variants, ctx.var["COMPILATION_MODE"]).items():
            if name in ctx.attr.by_clang:
                providers.append(
                    _precompile_by_clang(ctx, header, copts, library.compilation_context)
                )
                continue
            parsed = ctx.actions.declare_file(
                "%s/%s.gch/%s" % (ctx.label.name, ctx.attr.header, name)
            )
            _precompile(ctx, header, parsed, copts, library.compilation_context)
            headers.append(parsed)
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset(headers),
        system_includes = depset([header.dirname]),
    ))
    return providers + [cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = [library])]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = "A library like its deps, with a header of the name `header` that includes `includes` " +
          "and is parsed already.",
    attrs = {
        "by_clang": attr.string_list(
            doc = "The variant that clang parses, not GCC: of sources that clang compiles."
        ),
        "deps": attr.label_list(
            providers = [CcInfo], doc = "The libraries whose headers these are."
        ),
        "header": attr.string(mandatory = True, doc = "The name for -include."),
        "includes": attr.string_list(
            mandatory = True, doc = "What it includes, as between < and >."
        ),
        "variants": attr.string_list_dict(
            default = {"plain": []},
            doc = "A name for each set of options that sources are compiled with beside the " +
                  "common ones -> these.",
        ),
        "_clang_wrap": attr.label(default = "//bazel:clang_wrap.sh", allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
