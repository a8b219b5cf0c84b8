// Sums on the GPU.
#pragma once

// Returns the sum of the n integers at `values`, in host memory; -1 if a CUDA call fails.
long long sum(const int* values, int n);
