// Launches that repeat an earlier one (repeats/repeats.h): whatever changes memory in between is
// seen. LOCKSTEP_REPEATS=always looks for repetitions at each launch.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "simulator/extension.h"
#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

constexpr int kCount = 64;
constexpr std::size_t kBytes = sizeof(int) * kCount;
constexpr int kBytePattern = 0x01010101;
// What is written in turn; the last value has been there before.
constexpr std::array kValues{5, 6, 5};

template <class T>
T extension(const char* name) {
  return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

std::array<int, kCount> filled(int value) {
  std::array<int, kCount> all;
  all.fill(value);
  return all;
}

// `write` fills `from` with the value, or with a byte of it, if `times` is kBytePattern.
void expect_seen(int* from, const std::function<void(int)>& write, int times = 1) {
  int* const to = device_ints(kCount);
  const auto copied = [&] {
    kernels::copy(to, from, kCount);
    return fetch_int(to + kCount - 1);
  };
  copied();
  copied();
  for (const int value : kValues) {
    write(value);
    EXPECT_EQ(copied(), value * times);
    EXPECT_CUDA(cudaSuccess, cudaMemset(to, 0xff, kBytes));
    EXPECT_EQ(copied(), value * times) << "a repetition writes its results";
  }
}

CUDA_TEST(Repeats, SeeFills) {
  int* const p = device_ints(kCount);
  expect_seen(
      p, [&](int v) { EXPECT_CUDA(cudaSuccess, cudaMemset(p, v, kBytes)); }, kBytePattern);
  expect_seen(
      p, [&](int v) { EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(p, v, kBytes)); }, kBytePattern);
  expect_seen(
      p, [&](int v) { EXPECT_CUDA(cudaSuccess, cudaMemset2D(p, kBytes / 2, v, kBytes / 2, 2)); },
      kBytePattern);
}

CUDA_TEST(Repeats, SeeCopies) {
  int *const p = device_ints(kCount), *const q = device_ints(kCount);
  int* pinned = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&pinned), kBytes));
  expect_seen(p, [&](int v) {
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(p, filled(v).data(), kBytes, cudaMemcpyHostToDevice));
  });
  expect_seen(p, [&](int v) {
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    std::memcpy(pinned, filled(v).data(), kBytes);
    EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(p, pinned, kBytes, cudaMemcpyHostToDevice));
  });
  expect_seen(p, [&](int v) {
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(q, filled(v).data(), kBytes, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(p, q, kBytes, cudaMemcpyDeviceToDevice));
  });
  expect_seen(p, [&](int v) {
    EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(p, kBytes / 2, filled(v).data(), kBytes / 2, kBytes / 2,
                                          2, cudaMemcpyHostToDevice));
  });
}

CUDA_TEST(Repeats, SeeCopiesFromArrays) {
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMallocArray(&array, &format, kCount));
  int* const p = device_ints(kCount);
  expect_seen(p, [&](int v) {
    EXPECT_CUDA(cudaSuccess, cudaMemcpy2DToArray(array, 0, 0, filled(v).data(), kBytes, kBytes, 1,
                                                 cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaSuccess,
                cudaMemcpy2DFromArray(p, kBytes, array, 0, 0, kBytes, 1, cudaMemcpyDeviceToDevice));
  });
}

CUDA_TEST(Repeats, SeeKernelsAndGraphs) {
  int* const p = device_ints(kCount);
  expect_seen(p, [&](int v) { kernels::store(p, kCount - 1, v); });
  expect_seen(p, [&](int v) {
    cudaStream_t s = new_stream();
    cudaGraph_t g = new_graph();
    store_node(g, p, kCount - 1, v);
    launch_and_wait(new_exec(g), s);
  });
  // A launch that may begin before the one before it has ended is never a repetition.
  expect_seen(p, [&](int v) {
    long long i = kCount - 1;
    void* arguments[] = {const_cast<int**>(&p), &i, &v};
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.attrs = &early;
    config.numAttrs = 1;
    EXPECT_CUDA(cudaSuccess, cudaLaunchKernelExC(&config, kernels::store_function(), arguments));
  });
}

CUDA_TEST(Repeats, SeeTheHostsOwnWrites) {
  int* managed = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMallocManaged(reinterpret_cast<void**>(&managed), kBytes));
  const auto write = [](int* to) {
    return [to](int v) {
      EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
      std::memcpy(to, filled(v).data(), kBytes);
    };
  };
  write(managed)(0);
  expect_seen(managed, write(managed));
  static std::array<int, 4096> registered{};
  ASSERT_CUDA(cudaSuccess, cudaHostRegister(registered.data(), sizeof registered, 0));
  expect_seen(registered.data(), write(registered.data()));
}

CUDA_TEST(Repeats, SeeVariables) {
  int *const to = device_ints(1), sum = 0;
  for (const int value : kValues) {
    const std::array<int, 16> all{value};
    EXPECT_CUDA(cudaSuccess,
                cudaMemcpyToSymbol(kernels::device_variable(), all.data(), sizeof all));
    kernels::sum_variables(to);
    const int now = fetch_int(to);
    EXPECT_EQ(now - sum, value == kValues[0] && sum == 0 ? now : value == 6 ? 1 : -1);
    sum = now;
    kernels::sum_variables(to);
    EXPECT_EQ(fetch_int(to), sum);
  }
}

CUDA_TEST(Repeats, NewMemoryIsNotTheOldOne) {
  int* const to = device_ints(kCount);
  for (const int value : kValues) {
    int* const p = device_ints(kCount);
    kernels::store(p, kCount - 1, value);
    kernels::copy(to, p, kCount);
    EXPECT_EQ(fetch_int(to + kCount - 1), value);
    EXPECT_CUDA(cudaSuccess, cudaFree(p));
  }
}

CUDA_TEST(Repeats, ManyLaunchesWithoutAWait) {
  int* const p = device_ints(1);
  const int threads = 64;
  for (int i = 0; i < 300; ++i) {
    EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(p, 0, sizeof *p));
    kernels::count_threads(p, dim3(2), dim3(threads));
    kernels::count_threads(p, dim3(2), dim3(threads));
  }
  EXPECT_EQ(fetch_int(p), 4 * threads);
  for (int i = 0; i < 3; ++i) kernels::count_threads(p, dim3(2), dim3(threads));
  EXPECT_EQ(fetch_int(p), 10 * threads);
}

SIMULATED_TEST(Repeats, SeeWhatBecomesUnwritten) {
  extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1);
  int *const p = device_ints(1), *const to = device_ints(1);
  for (int i = 0; i < 3; ++i) {
    kernels::decide(to, p);
    EXPECT_EQ(fetch_int(to), 2);
  }
  EXPECT_EQ(extension<lockstepMarkUnwritten_t>("lockstepMarkUnwritten")(p, sizeof *p), 0);
  kernels::decide(to, p);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  char* const findings = extension<lockstepTakeFindings_t>("lockstepTakeFindings")();
  EXPECT_NE(std::string(findings).find("uninitialised"), std::string::npos) << findings;
  std::free(findings);
}

}  // namespace
}  // namespace lockstep::runtime
