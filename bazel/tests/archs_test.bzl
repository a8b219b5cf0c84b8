"""The grammar of --//bazel:archs, the refused nvcc options, capabilities, the toolkit list and
parsed headers, in both directions."""

load("//bazel:archs.bzl", "parse_archs")
load("//bazel:cuda.bzl", "refused_option")
load("//bazel:kernel_test.bzl", "wrong_min_sm")
load("//bazel:precompiled.bzl", "parsed_variants")
load("//bazel:toolkit.bzl", "parse_needed")
load(":expect.bzl", "expect_equal", "expect_in", "starlark_test")

def archs_test(name):
    """Declares the test `name`."""
    starlark_test(
        name = name,
        assertions = [
            expect_equal(
                "PTX",
                parse_archs("compute_75").gencode,
                ["-gencode=arch=compute_75,code=compute_75"],
            ),
            expect_equal(
                "machine code of one architecture, and blanks",
                parse_archs(" sm_90a , compute_120f").gencode,
                [
                    "-gencode=arch=compute_90a,code=sm_90a",
                    "-gencode=arch=compute_120f,code=compute_120f",
                ],
            ),
            expect_equal("twice the same", len(parse_archs("sm_80,sm_80").gencode), 1),
            expect_equal("an accepted one has no error", parse_archs("sm_80").error, None),
            expect_in("a bare number", parse_archs("90").error, "'90' is neither sm_NN"),
            expect_in("a name", parse_archs("hopper").error, "'hopper' is neither"),
            expect_in("no number", parse_archs("sm_").error, "'sm_' is neither"),
            expect_in("a wrong suffix", parse_archs("sm_90x").error, "'sm_90x' is neither"),
            expect_in("one wrong of two", parse_archs("sm_90,lto_90").error, "'lto_90' is neither"),
            expect_equal("a wrong one gives no options", parse_archs("sm_90,lto_90").gencode, []),
            expect_in("none", parse_archs(" , ").error, "no architecture is named"),
        ],
    )

def refused_option_test(name):
    """Declares the test `name`."""
    starlark_test(
        name = name,
        assertions = [
            expect_equal("none", refused_option([]), None),
            expect_equal(
                "accepted", refused_option(["-fmad=false", "-Xptxas=-dlcm=ca", "-std=c++17"]), None
            ),
            expect_in(
                "an architecture", refused_option(["-lineinfo", "-arch=sm_90"]), "--//bazel:archs"
            ),
            expect_in("a runtime", refused_option(["--cudart=static"]), "//simulator:cudart"),
            expect_in("device linking", refused_option(["-rdc=true"]), "not supported"),
        ],
    )

def min_sm_test(name):
    """Declares the test `name`."""
    starlark_test(
        name = name,
        assertions = [
            expect_equal(str(sm), wrong_min_sm(sm), None)
            for sm in [75, 80, 89, 90, 100, 121]
        ] + [
            expect_in(
                repr(sm),
                wrong_min_sm(sm),
                "min_sm = %s is no compute capability times ten" % repr(sm),
            )
            for sm in [9, 70, 9000, "sm_90", "90", None]
        ],
    )

def toolkit_list_test(name):
    """Declares the test `name`."""
    needed = parse_needed("# comment\n\nwheel 1.2 bin/x*  # why\nother 3 lib64/y|lib/y\n")
    starlark_test(
        name = name,
        assertions = [
            expect_equal("items", len(needed), 2),
            expect_equal("wheel", needed[0].wheel, "wheel"),
            expect_equal("program", needed[0].program, True),
            expect_equal("its name", needed[0].places, ["bin/x"]),
            expect_equal("no program", needed[1].program, False),
            expect_equal("places", needed[1].places, ["lib64/y", "lib/y"]),
        ],
    )

def parsed_variants_test(name):
    """Declares the test `name`."""
    both = {"optimised": ["-O1"], "plain": []}
    starlark_test(
        name = name,
        assertions = [
            expect_equal(
                "unoptimised and optimised are distinguished",
                parsed_variants(both, "fastbuild"),
                both,
            ),
            expect_equal("-O1 and -O2 are not", parsed_variants(both, "opt"), {}),
            expect_equal("one alone", parsed_variants({"plain": []}, "opt"), {"plain": []}),
        ],
    )
