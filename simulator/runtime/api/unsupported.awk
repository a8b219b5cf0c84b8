# Writes C++ for every function that exports.txt marks "unsupported". Arguments do not matter: under
# the C calling convention the caller removes them.
BEGIN { print "#include \"simulator/runtime/api/unsupported.h\"" }
$2 == "unsupported" {
  printf "extern \"C\" int %s() {\n  static int said = 0;\n", $1
  printf "  return lockstep_unsupported(\"%s\", &said);\n}\n", $1
}
