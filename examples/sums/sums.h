// Sums on the GPU.
#pragma once

// The sum of the n integers at `values`, host memory. -1 where CUDA fails.
long long sum(const int* values, int n);
