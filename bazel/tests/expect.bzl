"""starlark_test: assertions about pure Starlark functions, evaluated when Bazel analyses the
test."""

def _starlark_test_impl(ctx):
    failures = ctx.attr.failures
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        script,
        "#!/bin/sh\necho '%d assertions'\n%s" % (
            ctx.attr.assertions,
            "\n".join(
                ["echo '%s'" % failure.replace("'", "\"") for failure in failures] +
                ["exit %d\n" % (1 if failures else 0)]
            ),
        ),
        is_executable = True,
    )
    return [DefaultInfo(executable = script)]

_starlark_test = rule(
    implementation = _starlark_test_impl,
    attrs = {
        "assertions": attr.int(mandatory = True),
        "failures": attr.string_list(),
    },
    test = True,
)

def expect_equal(what, actual, expected):
    """One assertion: what was computed, its value and the value that is right."""
    return None if actual == expected else "%s: expected %s, got %s" % (
        what, repr(expected), repr(actual)
    )

def expect_in(what, actual, part):
    """One assertion: `part` is in the text `actual`."""
    return None if actual != None and part in actual else "%s: expected ...%s..., got %s" % (
        what, part, repr(actual)
    )

def starlark_test(name, assertions, size = "small"):
    """A test that fails with every assertion that does not hold.

    Args:
      name: the test.
      assertions: results of the expect functions.
      size: as Bazel means it.
    """
    if not assertions:
        fail("%s asserts nothing" % name)
    _starlark_test(
        name = name,
        size = size,
        assertions = len(assertions),
        failures = [failure for failure in assertions if failure],
    )
