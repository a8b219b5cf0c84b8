# Writes libcuda.so.1 in assembly language: each name of golden/exports/libcuda.txt jumps to the
# address in a table. libcuda.cc fills the table when the library is loaded. Until then, and for
# functions that are not simulated, the address is a refusal that receives the name's number.
BEGIN {
  print ".section .note.GNU-stack,\"\",@progbits"
  print ".text"
}
/^[^#]/ {
  names[count] = $1
  printf ".globl %s\n.type %s, @function\n.p2align 4\n", $1, $1
  printf "%s: jmp *lockstep_slots+%d(%%rip)\n.size %s, .-%s\n", $1, 8 * count, $1, $1
  printf "lockstep_refusal_%d: movl $%d, %%edi\njmp lockstep_refuse_driver_call\n", count, count
  ++count
}
END {
  print ".data\n.p2align 3\n.globl lockstep_slots\n.hidden lockstep_slots\nlockstep_slots:"
  for (i = 0; i < count; ++i) printf ".quad lockstep_refusal_%d\n", i
  print ".globl lockstep_names\n.hidden lockstep_names\nlockstep_names:"
  for (i = 0; i < count; ++i) printf ".quad lockstep_name_%d\n", i
  print ".quad 0"
  print ".section .rodata"
  for (i = 0; i < count; ++i) printf "lockstep_name_%d: .string \"%s\"\n", i, names[i]
}
