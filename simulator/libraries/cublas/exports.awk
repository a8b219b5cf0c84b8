# Writes the linker's version script for `soname`: every name of the list gets the version node of
# NVIDIA's library, and all other symbols are hidden.
BEGIN { print soname " {\n  global:" }
/^[^#]/ { printf "    %s;\n", $1 }
END { print "  local: *;\n};" }
