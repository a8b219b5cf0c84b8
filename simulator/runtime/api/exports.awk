# Writes the linker's version script: every name of exports.txt carries the version node that
# NVIDIA's library has, the extension its own, and nothing else is seen from outside.
BEGIN { print "libcudart.so.13 {\n  global:" }
/^[^#]/ { printf "    %s;\n", $1 }
END { print "  local: *;\n};\nLOCKSTEP_1 {\n  global:\n    lockstep[A-Z]*;\n} libcudart.so.13;" }
