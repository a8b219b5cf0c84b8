// Kernels that launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism").
//
//    dynamic_parallelism order      the order of grids: prints 1 2 3 4 9 10
//    dynamic_parallelism sort       a quicksort whose grids launch two others, in streams
//    dynamic_parallelism refused    a block of 2048 threads: prints the error of the launch
//    dynamic_parallelism outside    a child grid stores outside of its memory
//    dynamic_parallelism copies     a fill and a copy by a kernel: prints 1 1 1 1
//    dynamic_parallelism errors     failing calls in a kernel, and the last errors of threads
//    dynamic_parallelism queries    device queries in a kernel, which are not simulated
#include <cstdio>
#include <cstring>

struct Log {
  int count;
  int entries[16];
};

__global__ void append(Log* log, int what) { log->entries[log->count++] = what; }

__global__ void middle(Log* log) {
  log->entries[log->count++] = 1;
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 3);
  append<<<1, 1>>>(log, 2);
}

// A grid's children end before the next grid of its stream starts; tail launches are last.
__global__ void in_order(Log* log) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 9);
  middle<<<1, 1>>>(log);
  append<<<1, 1>>>(log, 4);
}

__device__ void sort_in_a_stream(int* first, int* last, int depth);

__global__ void sort(int* first, int* last, int depth) {
  if (first >= last) return;
  int* middle = first;
  for (int* i = first; i < last; ++i) {
    if (*i >= *last) continue;
    const int x = *i;
    *i = *middle;
    *middle++ = x;
  }
  const int x = *last;
  *last = *middle;
  *middle = x;
  sort_in_a_stream(first, middle - 1, depth + 1);
  sort_in_a_stream(middle + 1, last, depth + 1);
}

__device__ void sort_in_a_stream(int* first, int* last, int depth) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  sort<<<1, 1, 0, stream>>>(first, last, depth);
  cudaStreamDestroy(stream);
}

__global__ void refused(Log* log) {
  append<<<1, 2048>>>(log, 5);
  log->entries[0] = cudaPeekAtLastError();
  std::printf("%s: ", cudaGetErrorName(cudaPeekAtLastError()));
  log->entries[1] = cudaGetLastError();
  log->entries[2] = cudaGetLastError();
  log->count = 3;
}

__global__ void outside(Log* log) {
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(log + 1, 5);  // the line of the launch
}

__global__ void copies(Log* log) {
  cudaMemsetAsync(log->entries, 0, 2 * sizeof(int));
  append<<<1, 1>>>(log, 1);
  append<<<1, 1>>>(log, 1);
  cudaMemcpyAsync(log->entries + 2, log->entries, 2 * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaMemsetAsync(&log->count, 0, sizeof(int));
  cudaMemsetAsync(&log->count, 4, 1);
}

__global__ void queries(Log* log) { cudaGetDevice(&log->count); }

__global__ void dynamic(Log* log) {
  extern __shared__ int space[];
  space[0] = log->count;
}

// Each thread, and each child grid, has its own last error.
__global__ void errors(Log* log) {
  if (threadIdx.x == 0) append<<<1, 2048>>>(log, 5);
  __syncthreads();
  if (threadIdx.x % 33 == 0) log->entries[threadIdx.x / 33] = cudaPeekAtLastError();
  if (threadIdx.x != 0) return;
  cudaStream_t stream;
  cudaEvent_t event;
  log->entries[2] = cudaGetLastError();
  append<<<dim3(1, 65536), 1>>>(log, 5);
  log->entries[3] = cudaGetLastError();
  append<<<1, dim3(1, 1, 65)>>>(log, 5);
  log->entries[4] = cudaGetLastError();
  dynamic<<<1, 1, 50000>>>(log);
  log->entries[5] = cudaGetLastError();
  log->entries[6] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  log->entries[7] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  log->entries[8] = cudaGetLastError();
  log->entries[9] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  log->count = 10;
}

int main(int, char** argv) {
  const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  Log* log = nullptr;
  cudaMalloc(&log, sizeof(Log));
  cudaMemset(log, 0, sizeof(Log));
  if (is("order")) {
    in_order<<<1, 1>>>(log);
    append<<<1, 1>>>(log, 10);
  } else if (is("sort")) {
    Log unsorted = {16, {5, 3, 9, 1, 15, 0, 2, 12, 7, 6, 11, 4, 14, 8, 13, 10}};
    cudaMemcpy(log, &unsorted, sizeof unsorted, cudaMemcpyHostToDevice);
    sort<<<1, 1>>>(log->entries, log->entries + 15, 0);
  } else if (is("refused")) {
    refused<<<1, 1>>>(log);
  } else if (is("outside")) {
    outside<<<1, 1>>>(log);
  } else if (is("copies")) {
    copies<<<1, 1>>>(log);
  } else if (is("errors")) {
    errors<<<1, 64>>>(log);
  } else {
    queries<<<1, 1>>>(log);
  }
  Log seen = {};
  cudaMemcpy(&seen, log, sizeof seen, cudaMemcpyDeviceToHost);
  for (int i = 0; i < seen.count; ++i)
    std::printf("%d%c", seen.entries[i], i + 1 < seen.count ? ' ' : '\n');
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(log);
}
