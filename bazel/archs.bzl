"""The GPU architectures that device code is compiled for: a build flag and its grammar.

    --//bazel:archs=compute_75,compute_90      PTX alone (the default: quick, and all that the
                                               simulator runs)
    --//bazel:archs=sm_90,sm_100,compute_100   machine code for two GPUs, PTX for later ones

`compute_NN` embeds PTX, `sm_NN` machine code. NN may end in `a` (code for one
architecture and no later one) or `f` (for its family). There is no list of known
numbers: nvcc reports an unknown one.
"""

CudaArchsInfo = provider(
    doc = "The architectures that were asked for.",
    fields = {
        "gencode": "nvcc options, one -gencode=... an architecture",
        "is_default": "whether nobody asked for any",
    },
)

DEFAULT_ARCHS = "compute_75,compute_90"

def parse_archs(text):
    """Turns `sm_90,compute_90` into nvcc options.

    Args:
      text: architectures, separated by commas.

    Returns:
      A struct with `gencode`, the options, and `error`, a sentence or None.
    """
    gencode = []
    for arch in [part.strip() for part in text.split(",") if part.strip()]:
        kind, _, number = arch.partition("_")
        digits = number[:-1] if number[-1:] in ["a", "f"] else number
        if kind not in ["sm", "compute"] or not digits.isdigit():
            return struct(
                gencode = [],
                error = "'%s' is neither sm_NN (machine code) nor compute_NN (PTX)" % arch,
            )
        option = "-gencode=arch=compute_%s,code=%s" % (number, arch)
        if option not in gencode:
            gencode.append(option)
    if not gencode:
        return struct(
            gencode = [],
            error = "no architecture is named; compute_90 would embed PTX for 9.0 and later",
        )
    return struct(gencode = gencode, error = None)

def _cuda_archs_impl(ctx):
    parsed = parse_archs(ctx.build_setting_value)
    if parsed.error:
        fail("--//%s:%s: %s" % (ctx.label.package, ctx.label.name, parsed.error))
    return [
        CudaArchsInfo(
            gencode = parsed.gencode, is_default = ctx.build_setting_value == DEFAULT_ARCHS
        )
    ]

cuda_archs = rule(
    implementation = _cuda_archs_impl,
    build_setting = config.string(flag = True),
    doc = "A flag that names architectures.",
)
