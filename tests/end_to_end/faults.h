// Kernels with one planted fault each, and right negative controls. The line of each fault bears
// the comment "planted: <name>", which the tests look up.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep::end_to_end {

// They compute y[i] = 2 * x[i] for i < n with one block of `threads`, n <= threads <= 1024, unless
// they say otherwise. They return the error of the launch, or of the wait for it.
using Launcher = cudaError_t (*)(const float* x, float* y, int n, int threads);

cudaError_t doubles(const float* x, float* y, int n, int threads);              // no fault
cudaError_t writes_past_the_end(const float* x, float* y, int n, int threads);  // y[n] too
cudaError_t reads_misaligned(const float* x, float* y, int n,
                             int threads);  // x[0] two bytes further on
cudaError_t reads_uninitialised(const float* x, float* y, int n,
                                int threads);  // shared memory that nobody wrote, for n >= 1
cudaError_t races(const float* x, float* y, int n,
                  int threads);  // no barrier between writing and reading a neighbour's cell
cudaError_t races_not(const float* x, float* y, int n, int threads);  // the same with the barrier
cudaError_t leaves_last_unwritten(const float* x, float* y, int n,
                                  int threads);  // y[n - 1], for n >= 1
cudaError_t leaves_beyond_32_unwritten(const float* x, float* y, int n,
                                       int threads);  // y[i] for i >= 32: smallest failing n is 33
cudaError_t changes_its_input(const float* x, float* y, int n, int threads);  // x[0], for n >= 1
cudaError_t adds_one_beyond_100(
    const float* x, float* y, int n,
    int threads);  // y[i] = 2 * x[i] + 1 for i >= 100: smallest failing n is 101
// y[i] += 2 * x[i], right where y happens to hold zeros
cudaError_t adds_to_its_output(const float* x, float* y, int n, int threads);
cudaError_t writes_nowhere(const float* x, float* y, int n,
                           int threads);  // to address 0: a sticky error on silicon
cudaError_t never_ends(const float* x, float* y, int n, int threads);

}  // namespace lockstep::end_to_end
