# Writes a C++ function for every function that the list marks "unsupported". It ignores its
# arguments: under the C calling convention the caller removes them.
BEGIN { print "#include \"simulator/libraries/cublas/unsupported.h\"" }
$2 == "unsupported" {
  printf "extern \"C\" int %s() {\n", $1
  printf "  return lockstep::cublas::unsupported(\"%s\");\n}\n", $1
}
