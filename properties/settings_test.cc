// The batteries for a launcher's device queries and kernel attributes, on a launcher that fills an
// array, on the simulated GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/property/case.h"
#include "harness/property/field.h"
#include "properties/contract_laws.h"

namespace lockstep::properties {
namespace {

struct Status {
  cudaError_t error = cudaSuccess;
  std::string message;
  bool of_cuda = false;
};

// Sets n bytes of y to zero.
using Launcher = Status(std::int64_t n, std::uint8_t* y, cudaStream_t stream);
using Fill = std::function<Launcher>;

struct FillCase {
  std::int64_t n = 7;
  static void fields(FillCase& c, FieldVisitor& field) { field("n", c.n, sizes(0, 40)); }
};

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Call<Fill> fill_call(const FillCase& c) {
  Call<Fill> call("fill");
  auto& [n, y] = call.arguments(c.n, nullptr);
  call.integer("n", {0, kMost}, n);
  call.output<std::uint8_t>("y", y, {.count = c.n}, {});
  call.reads(cudaDevAttrMultiProcessorCount);
  return call;
}

Status status_of(cudaError_t error) {
  return error == cudaSuccess ? Status{} : Status{error, "fill: something failed", true};
}
Status right(std::int64_t n, std::uint8_t* y, cudaStream_t stream) {
  if (n < 0) return {cudaErrorInvalidValue, "fill: n"};
  if (n == 0) return {};
  return status_of(cudaMemsetAsync(y, 0, static_cast<std::size_t>(n), stream));
}

// A kernel whose attributes can be set.
const void* kernel() {
  static const void* const kKernel = [] {
    constexpr const char* kPtx =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".extern .shared .align 16 .b8 memory[];\n"
        ".visible .entry nothing() { ret; }\n";
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaSuccess);
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "nothing"), cudaSuccess);
    return static_cast<const void*>(kernel);
  }();
  return kKernel;
}
// Sets this much shared memory for the kernel before the fill.
Fill sets(std::function<int(std::int64_t)> shared) {
  return [shared = std::move(shared)](auto n, auto y, auto stream) {
    if (const cudaError_t e =
            cudaFuncSetAttribute(kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, shared(n));
        e != cudaSuccess)
      return status_of(e);
    return right(n, y, stream);
  };
}
// Queries a property of the device before the fill.
Fill asks(std::function<Status(int value, std::int64_t n)> judge, cudaDeviceAttr which) {
  return [judge = std::move(judge), which](auto n, auto y, auto stream) {
    int value = 0;
    if (const cudaError_t e = cudaDeviceGetAttribute(&value, which, 0); e != cudaSuccess)
      return status_of(e);
    if (Status s = judge(value, n); s.error != cudaSuccess) return s;
    return right(n, y, stream);
  };
}

std::string outcome_of(const std::function<void()>& body) {
  const CaseOutcome outcome = run_case(body);
  return outcome.held() ? "" : outcome.failure.label() + ": " + outcome.failure.message;
}
const detail::BoxedCase<FillCase> kBoxed;
using FillSubject = SubjectOf<fill_call, FillCase, Fill>;
std::string promises_of(const Fill& f) {
  return outcome_of([&] {
    battery::require_promises_of(FillSubject(f), kBoxed, detail::kEach, Arrays::kContiguous, 0);
  });
}
std::string properties_of(const Fill& f) {
  return outcome_of(
      [&] { battery::require_same_without_other_properties_of(FillSubject(f), kBoxed); });
}
void expect_failure(const std::string& outcome, const std::string& text) {
  EXPECT_EQ(outcome.substr(0, 4), "law:") << outcome;
  EXPECT_NE(outcome.find(text), std::string::npos) << outcome;
}

TEST(Settings, OfAKernelAreTheSameInEachCall) {
  EXPECT_EQ(promises_of(right), "");
  EXPECT_EQ(promises_of(sets([](auto) { return 96 << 10; })), "");
  // As much as a call needs; another host thread may need more.
  const auto need = [](std::int64_t n) {
    return static_cast<int>(std::min(n, std::int64_t{4096}));
  };
  expect_failure(promises_of(sets(need)), "another may set less than it needs");
  // Only raises the limit: a larger call before it hides the need of a smaller one.
  const Fill raises = [](auto n, auto y, auto stream) {
    const int need = n > (std::int64_t{1} << 40) ? 100 << 10 : n > 7 ? 60 << 10 : 0;
    cudaFuncAttributes now;
    if (const cudaError_t e = cudaFuncGetAttributes(&now, kernel()); e != cudaSuccess)
      return status_of(e);
    return need > now.maxDynamicSharedSizeBytes ? sets([need](auto) { return need; })(n, y, stream)
                                                : right(n, y, stream);
  };
  expect_failure(promises_of(raises), "another may set less than it needs");
}

TEST(Settings, OfTheProgramHoldAfterwards) {
  ASSERT_EQ(cudaFuncSetAttribute(kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 70000),
            cudaSuccess);
  EXPECT_EQ(promises_of(sets([](auto) { return 96 << 10; })), "");
  ASSERT_EQ(cudaFuncSetAttribute(kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 70000),
            cudaSuccess);
  EXPECT_EQ(limits_of([] {
              cudaFuncAttributes now;
              EXPECT_EQ(cudaFuncGetAttributes(&now, kernel()), cudaSuccess);
              EXPECT_EQ(now.maxDynamicSharedSizeBytes, 48 << 10) << "nothing is set here";
            }).size(),
            0u);
  cudaFuncAttributes now;
  ASSERT_EQ(cudaFuncGetAttributes(&now, kernel()), cudaSuccess);
  EXPECT_EQ(now.maxDynamicSharedSizeBytes, 70000);
}

TEST(Properties, ThatAContractDoesNotNameChangeNothing) {
  EXPECT_EQ(properties_of(right), "");
  const auto less_than = [](std::int64_t most) {
    return [most](int value, std::int64_t n) {
      return n > 0 && value > most ? Status{cudaErrorNotSupported, "fill: not here"} : Status{};
    };
  };
  // A property in the contract may affect the result.
  EXPECT_EQ(properties_of(asks(less_than(200), cudaDevAttrMultiProcessorCount)), "");
  for (const cudaDeviceAttr other :
       {cudaDevAttrMaxBlocksPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor}) {
    int now = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&now, other, 0), cudaSuccess);
    expect_failure(properties_of(asks(less_than(now), other)),
                   "depends on a property of the device that its contract does not name");
    expect_failure(properties_of(asks(less_than(now - 1), other)), "are less cudaSuccess");
  }
  // Settings that depend on such a property are reported, and nothing else is.
  const Fill sets_by_neighbour = [](auto n, auto y, auto stream) {
    int value = 0;
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    return sets([value](auto) { return value; })(n, y, stream);
  };
  expect_failure(properties_of(sets_by_neighbour), "becomes 1024");
  int blocks = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor, 0), cudaSuccess);
  EXPECT_EQ(blocks, 32) << "the device says again what it is";
}

}  // namespace
}  // namespace lockstep::properties
