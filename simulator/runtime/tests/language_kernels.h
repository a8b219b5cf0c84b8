// Kernels that use CUDA C++ features beyond arithmetic: asynchronous copies, barriers, small
// atomics, recursion, the heap. None waits.
#pragma once

namespace lockstep::runtime::kernels {

inline constexpr int kTile = 128;  // ints in a tile, and threads of a block unless stated otherwise

// to[t] = the sum over the tiles of element kTile - 1 - t; copies of the next tile overlap the sum.
void pipelined_sum(int* to, const int* from, int tiles);
// Reverses one tile in shared memory. Copied by threads that arrive at a barrier, and by a group.
void barrier_copy(int* to, const int* from);
void group_copy(int* to, const int* from);
// One tile, plus one; both copies are bulk copies.
void bulk_copy(int* to, const int* from);
// Twice each element; half of the threads fetch, the others compute.
void producer_consumer(int* to, const int* from, int tiles);

// Every thread adds 1 (and 2, 3, 4) to: f16 at 0, f16x2 at 4, bf16 at 8, bf16x2 at 12, float2 at
// 16, float4 at 32; the 16 bits at 48 become 7.
void small_atomics(void* cells, int blocks, int threads);

void recursion(int* to, int threads);          // to[t] = Fibonacci number t % 13
void function_pointers(int* to, int threads);  // to[t] = 2 t or, for odd t, 3 t
void virtual_functions(int* to, int threads);  // to[t] = t * t where 3 divides t, else t
void stack_allocation(int* to, int threads);   // to[t] = 0 + ... + t
void device_heap(int* to, int threads);        // to[t] = 10 t
void print_values();                           // "-3  2.50 word c 1099511627776 ff%\n"
void assert_below(int limit, int threads);  // asserts that each thread's number is below the limit

}  // namespace lockstep::runtime::kernels
