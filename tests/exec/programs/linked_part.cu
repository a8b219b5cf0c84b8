#include "linked.h"

__device__ int offset = 5;
__constant__ int factors[4] = {1, 2, 3, 4};

__device__ __noinline__ int twice(int x) { return 2 * x; }
