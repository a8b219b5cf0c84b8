// All cases whose default stream is the legacy one: one translation unit, since most of what nvcc
// takes for each is the toolkit's headers.
#include "accesses.cu"
#include "allocations.cu"
#include "captures.cu"
#include "copies.cu"
#include "copy_pairs.cu"
#include "events.cu"
#include "graphs.cu"
#include "host.cu"
#include "kernels.cu"
#include "shapes.cu"
