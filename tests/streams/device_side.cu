// Cases whose kernels call the device's runtime, which takes relocatable device code, and those
// that share their translation unit.
#include "launches.cu"
#include "nodes.cu"
#include "other_memory.cu"
