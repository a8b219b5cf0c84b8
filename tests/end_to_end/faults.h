// Kernels with one planted fault each, and correct negative controls. The comment "planted: <name>"
// marks the line of each fault; tests look it up.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::end_to_end {

// Each computes y[i] = 2 * x[i] for i < n with one block of `threads` threads, n <= threads <=
// 1024, unless noted. Returns the error of the launch or of the synchronisation.
using Launcher = cudaError_t (*)(const float* x, float* y, int n, int threads);

cudaError_t doubles(const float* x, float* y, int n, int threads);              // no fault
cudaError_t writes_past_the_end(const float* x, float* y, int n, int threads);  // y[n] too
cudaError_t reads_misaligned(const float* x, float* y, int n,
                             int threads);  // reads x[0] two bytes too far
cudaError_t reads_uninitialised(const float* x, float* y, int n,
                                int threads);  // reads uninitialised shared memory, n >= 1
cudaError_t races(const float* x, float* y, int n,
                  int threads);  // no barrier between writing and reading a neighbour's cell
cudaError_t races_not(const float* x, float* y, int n, int threads);  // races, with the barrier
cudaError_t leaves_last_unwritten(const float* x, float* y, int n,
                                  int threads);  // omits y[n - 1], for n >= 1
cudaError_t leaves_beyond_32_unwritten(const float* x, float* y, int n,
                                       int threads);  // y[i] for i >= 32: smallest failing n is 33
cudaError_t changes_its_input(const float* x, float* y, int n, int threads);  // x[0], for n >= 1
cudaError_t adds_one_beyond_100(
    const float* x, float* y, int n,
    int threads);  // y[i] = 2 * x[i] + 1 for i >= 100: smallest failing n is 101
// y[i] += 2 * x[i]: correct only if y holds zeros.
cudaError_t adds_to_its_output(const float* x, float* y, int n, int threads);
cudaError_t writes_nowhere(const float* x, float* y, int n,
                           int threads);  // writes to address 0: a sticky error on silicon
cudaError_t never_ends(const float* x, float* y, int n, int threads);

}  // namespace lockstep::end_to_end
