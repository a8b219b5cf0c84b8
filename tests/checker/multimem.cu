// Pairs for multicast memory, accessed both by multimem and by ordinary instructions.
#include <cuda.h>

#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

#define MULTIMEM_ADD(sem, at) \
  asm volatile("multimem.red." sem ".sys.global.add.u32 [%0], 1;" ::"l"(at) : "memory")
#define MULTIMEM_STORE(at, value) \
  asm volatile("multimem.st.weak.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory")
#define MULTIMEM_SUM(r, sem, at)                                                              \
  asm volatile("multimem.ld_reduce." sem ".sys.global.add.u32 %0, [%1];" : "=r"(r) : "l"(at) \
               : "memory")

template <class Call>
Call function(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &f, 12010, cudaEnableDefault, &found);
  return reinterpret_cast<Call>(f);
}
#define DRIVER(name) function<decltype(&name)>(#name)

// A multicast object with one device's memory: `all` is its multimem address, `own` the ordinary
// one. No memory is bound to the second half.
struct Multicast {
  unsigned *all = nullptr, *own = nullptr;
  std::size_t piece = 0;

  explicit Multicast(bool filled = true) {
    cudaFree(nullptr);
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    if (DRIVER(cuMulticastCreate) == nullptr) return;
    DRIVER(cuMemGetAllocationGranularity)
    (&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUmulticastObjectProp object{};
    object.numDevices = 1;
    object.size = 2 * piece;
    DRIVER(cuMulticastCreate)(&handle_, &object);
    DRIVER(cuMulticastAddDevice)(handle_, 0);
    DRIVER(cuMemCreate)(&memory_, piece, &properties, 0);
    DRIVER(cuMulticastBindMem)(handle_, 0, memory_, 0, piece, 0);
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    DRIVER(cuMemAddressReserve)(&at, piece, 0, 0, 0);
    DRIVER(cuMemMap)(at, piece, 0, memory_, 0);
    DRIVER(cuMemSetAccess)(at, piece, &access, 1);
    own = reinterpret_cast<unsigned*>(at);
    if (filled) cudaMemset(own, 0, piece);
    DRIVER(cuMemAddressReserve)(&at, 2 * piece, 0, 0, 0);
    DRIVER(cuMemMap)(at, 2 * piece, 0, handle_, 0);
    DRIVER(cuMemSetAccess)(at, 2 * piece, &access, 1);
    all = reinterpret_cast<unsigned*>(at);
  }
  ~Multicast() {
    if (all == nullptr) return;
    cudaDeviceSynchronize();
    DRIVER(cuMemUnmap)(reinterpret_cast<CUdeviceptr>(all), 2 * piece);
    DRIVER(cuMemUnmap)(reinterpret_cast<CUdeviceptr>(own), piece);
    DRIVER(cuMemAddressFree)(reinterpret_cast<CUdeviceptr>(all), 2 * piece);
    DRIVER(cuMemAddressFree)(reinterpret_cast<CUdeviceptr>(own), piece);
    DRIVER(cuMemRelease)(handle_);
    DRIVER(cuMemRelease)(memory_);
  }
  Multicast(const Multicast&) = delete;
  Multicast& operator=(const Multicast&) = delete;

 private:
  CUmemGenericAllocationHandle handle_ = 0, memory_ = 0;
};

// The same word, accessed through both of its addresses.
template <bool faulty>
__global__ void multimem_add_and_store(unsigned* all, unsigned* own) {
  if (blockIdx.x == 0) {
    // FAULT multimem_add_and_store
    MULTIMEM_ADD("relaxed", all);
  } else {
    own[faulty ? 0 : 1] = 7;  // FAULT multimem_add_and_store
  }
}
PAIR(multimem_add_and_store, "race") {
  Multicast m;
  multimem_add_and_store<faulty><<<2, 1>>>(m.all, m.own);
}

template <bool faulty>
__global__ void multimem_stores_of_two_blocks(unsigned* all) {
  // FAULT multimem_stores_of_two_blocks
  MULTIMEM_STORE(all + (faulty ? 0 : blockIdx.x), blockIdx.x);
}
PAIR(multimem_stores_of_two_blocks, "race") {
  Multicast m;
  multimem_stores_of_two_blocks<faulty><<<2, 1>>>(m.all);
}

// A relaxed flag: its waiter reads data without synchronisation.
template <bool faulty>
__global__ void multimem_flag_without_release(unsigned* all, unsigned* own, unsigned* y) {
  if (blockIdx.x == 0) {
    own[64] = 5;  // FAULT multimem_flag_without_release
    if (faulty) {
      MULTIMEM_ADD("relaxed", all);
    } else {
      MULTIMEM_ADD("release", all);
    }
  } else {
    unsigned flag = 0;
    while (flag == 0) MULTIMEM_SUM(flag, "acquire", all);
    y[0] = own[64];  // FAULT multimem_flag_without_release
  }
}
PAIR(multimem_flag_without_release, "race") {
  Multicast m;
  Buffer<unsigned> y(1);
  multimem_flag_without_release<faulty><<<2, 1>>>(m.all, m.own, y);
}

template <bool faulty>
__global__ void multimem_where_nothing_is_bound(unsigned* all, std::size_t words, unsigned* y) {
  unsigned r;
  // FAULT multimem_where_nothing_is_bound
  MULTIMEM_SUM(r, "relaxed", all + (faulty ? words : words - 1));
  y[0] = r;
}
PAIR(multimem_where_nothing_is_bound, "invalid-instruction") {
  Multicast m;
  Buffer<unsigned> y(1);
  multimem_where_nothing_is_bound<faulty><<<1, 1>>>(m.all, m.piece / 4, y);
}

template <bool faulty>
__global__ void multimem_of_an_odd_address(unsigned* all) {
  // FAULT multimem_of_an_odd_address
  MULTIMEM_ADD("relaxed", reinterpret_cast<char*>(all) + (faulty ? 2 : 4));
}
PAIR(multimem_of_an_odd_address, "misaligned") {
  Multicast m;
  multimem_of_an_odd_address<faulty><<<1, 1>>>(m.all);
}

template <bool faulty>
__global__ void multimem_sum_of_what_nobody_wrote(unsigned* all, unsigned* y) {
  unsigned r;
  // FAULT multimem_sum_of_what_nobody_wrote
  MULTIMEM_SUM(r, "relaxed", all);
  if (r == 3) y[0] = 1;  // FAULT multimem_sum_of_what_nobody_wrote
}
PAIR(multimem_sum_of_what_nobody_wrote, "uninitialised") {
  Multicast m(!faulty);
  Buffer<unsigned> y(1);
  multimem_sum_of_what_nobody_wrote<faulty><<<1, 1>>>(m.all, y);
}

}  // namespace
