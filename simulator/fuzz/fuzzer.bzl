"""clang_fuzzer: a libFuzzer program, for which clang compiles all of the project's code that it
depends on once more.

The other compiler, its sanitizers and the instrumentation that guides the fuzzer stay
out of the ordinary build: an aspect visits the cc_library and clang_objects targets
below a fuzzer and compiles their sources once more. Libraries of the system are linked
as they are. clang is not part of the set-up; where it is missing, clang.sh says what to
install.
"""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_SanitizedInfo = provider(
    doc = "What a fuzzer links.",
    fields = {
        "archives": "depset of static libraries that are not ours",
        "objects": "depset of object files made by clang",
    },
)

# Detected undefined behaviour ends the program, like an invalid address. Assertions in the standard
# library find indices past a vector's end that are still inside of its memory.
_SANITIZERS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]
_COMPILE = [
    "-std=c++20",
    "-O1",
    "-g1",
    "-D_GLIBCXX_ASSERTIONS",
    # For gcc, and clang from version 17 on: has no effect unless the rounding mode is changed.
    "-D__builtin_roundeven=__builtin_rint",
    "-D__builtin_roundevenf=__builtin_rintf",
    "-fsanitize=fuzzer-no-link",
] + _SANITIZERS

def _wanted(copts):
    """Options of a library that mean the same to clang; the level of optimisation, warnings and
    GCC's parsed headers are not its matter here."""
    return [
        option
        for option, before in zip(copts, [""] + copts)
        if not (option.startswith("-O") or option.startswith("-W")
                or option == "-fno-tree-loop-distribute-patterns" or
                option == "-include" or before == "-include")
    ]

def _compile(ctx, clang, label, sources, headers, copts, defines, context):
    objects = []
    for source in sources:
        if source.extension != "cc":
            continue
        out = ctx.actions.declare_file("_sanitized/%s/%s.o" % (label.name, source.basename))
        args = ctx.actions.args()
        args.add_all(_COMPILE)
        args.add_all(_wanted(copts))
        args.add_all(defines, format_each = "-D%s")
        args.add_all(context.defines, format_each = "-D%s")
        args.add_all(context.quote_includes, before_each = "-iquote")
        args.add_all([".", ctx.bin_dir.path], before_each = "-iquote")
        args.add_all(context.includes, before_each = "-I")
        args.add_all(context.system_includes, before_each = "-isystem")
        args.add("-c", source)
        args.add("-o", out)
        ctx.actions.run(
            executable = clang,
            arguments = [args],
            inputs = depset(sources + headers, transitive = [context.headers]),
            outputs = [out],
            mnemonic = "ClangCompile",
            progress_message = "Compiling %s with sanitizers" % source.short_path,
            use_default_shell_env = True,
        )
        objects.append(out)
    return objects

def _below(deps):
    return [d[_SanitizedInfo] for d in deps if _SanitizedInfo in d]

def _aspect_impl(target, ctx):
    below = _below(getattr(ctx.rule.attr, "deps", []))
    objects, archives = [], []
    if ctx.rule.kind == "cc_library":
        sources = ctx.rule.files.srcs
        archives = [f for f in sources if f.extension == "a"]
        if not target.label.workspace_name:
            objects = _compile(
                ctx,
                ctx.executable._clang,
                target.label,
                sources,
                ctx.rule.files.hdrs + ctx.rule.files.textual_hdrs,
                ctx.rule.attr.copts,
                ctx.rule.attr.local_defines,
                target[CcInfo].compilation_context,
            )
    if ctx.rule.kind == "_clang_objects":
        objects = _compile(
            ctx,
            ctx.executable._clang,
            target.label,
            ctx.rule.files.srcs,
            ctx.rule.files.hdrs,
            ctx.rule.attr.copts,  # with its macros
            [],
            target[CcInfo].compilation_context,
        )
    return [_SanitizedInfo(
        objects = depset(objects, transitive = [b.objects for b in below]),
        archives = depset(archives, transitive = [b.archives for b in below]),
    )]

_CLANG = {"_clang": attr.label(default = "//simulator/fuzz:clang", executable = True, cfg = "exec")}

_sanitized = aspect(
    implementation = _aspect_impl,
    attr_aspects = ["deps"],
    attrs = _CLANG,
)

def _fuzzer_impl(ctx):
    below = _below(ctx.attr.deps)
    objects = depset(transitive = [b.objects for b in below])
    archives = depset(transitive = [b.archives for b in below])
    program = ctx.actions.declare_file(ctx.label.name)
    args = ctx.actions.args()
    args.add("-fsanitize=fuzzer")
    args.add_all(_SANITIZERS)
    args.add_all(objects)
    args.add_all(archives)
    args.add("-pthread")
    args.add("-o", program)
    ctx.actions.run(
        executable = ctx.executable._clang,
        arguments = [args],
        inputs = depset(transitive = [objects, archives]),
        outputs = [program],
        mnemonic = "ClangLink",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([program]), executable = program)]

clang_fuzzer = rule(
    implementation = _fuzzer_impl,
    doc = "A program with libFuzzer's main, of libraries one of which defines " +
          "LLVMFuzzerTestOneInput.",
    executable = True,
    attrs = dict(
        deps = attr.label_list(aspects = [_sanitized], providers = [CcInfo], mandatory = True),
        **_CLANG
    ),
)
