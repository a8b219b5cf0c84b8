// The translation unit of cases whose kernels call the device runtime, which needs relocatable
// device code.
#include "launches.cu"
#include "nodes.cu"
#include "other_memory.cu"
