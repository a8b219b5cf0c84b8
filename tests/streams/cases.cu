// All cases with the legacy default stream, as one translation unit: nvcc needs most of its time
// for the toolkit's headers.
#include "accesses.cu"
#include "allocations.cu"
#include "captures.cu"
#include "copies.cu"
#include "copy_pairs.cu"
#include "events.cu"
#include "graphs.cu"
#include "host.cu"
#include "kernels.cu"
#include "main.cu"
#include "shapes.cu"
