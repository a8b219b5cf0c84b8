# Writes the linker's version script for `soname`: every name of the list carries the version node
# that NVIDIA's library has, and nothing else is seen from outside.
BEGIN { print soname " {\n  global:" }
/^[^#]/ { printf "    %s;\n", $1 }
END { print "  local: *;\n};" }
