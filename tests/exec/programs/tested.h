// A kernel on device memory, for the tests of it.
#pragma once

// y = a * x + y of n elements, in blocks of `threads` threads.
void launch_saxpy(int threads, int n, float a, const float* x, float* y);
