# Writes the linker's version script: NVIDIA's library gives its names no version.
BEGIN { print "{\n  global:" }
/^[^#]/ { printf "    %s;\n", $1 }
END { print "  local: *;\n};" }
