// The extension API of the simulated GPU: findings, counters, clearing an error, checks; and the
// errors where it is unavailable.
#include "simulator/extension.h"

#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

template <class T>
T extension(const char* name) {
  const auto f = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  EXPECT_NE(f, nullptr) << name;
  return f;
}

nlohmann::json take() {
  char* text = extension<lockstepTakeFindings_t>("lockstepTakeFindings")();
  const auto json = nlohmann::json::parse(text);
  std::free(text);
  return json;
}

void quiet() { extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1); }
int clear_error() { return extension<lockstepClearError_t>("lockstepClearError")(); }

int* device_ints(std::size_t count) {
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), count * sizeof(int)));
  return p;
}

CUDA_TEST(Extension, HasAVersion) {
  EXPECT_EQ(extension<lockstepExtensionVersion_t>("lockstepExtensionVersion")(),
            LOCKSTEP_EXTENSION_VERSION);
}

// Sealed: untrusted code can neither change the checks nor remove the findings.
CUDA_TEST(Extension, SealedItEndsTheProcessThatChangesSomething) {
  const auto seal = extension<lockstepSeal_t>("lockstepSeal");
  const auto unseal = extension<lockstepUnseal_t>("lockstepUnseal");
  EXPECT_EQ(seal(0), -1);
  const auto broken_by = [&](void (*act)(), const char* function) {
    EXPECT_EXIT((seal(7), act()), ::testing::ExitedWithCode(LOCKSTEP_EXIT_SEAL_BROKEN),
                std::string(function) + " was called while the extension was sealed");
  };
  broken_by([] { extension<lockstepSetChecks_t>("lockstepSetChecks")(0); }, "lockstepSetChecks");
  broken_by([] { extension<lockstepTakeFindings_t>("lockstepTakeFindings")(); },
            "lockstepTakeFindings");
  broken_by([] { extension<lockstepTakeErrors_t>("lockstepTakeErrors")(); }, "lockstepTakeErrors");
  broken_by([] { extension<lockstepClearError_t>("lockstepClearError")(); }, "lockstepClearError");
  broken_by([] { extension<lockstepSetSchedule_t>("lockstepSetSchedule")(1); },
            "lockstepSetSchedule");
  broken_by([] { extension<lockstepWatchOperations_t>("lockstepWatchOperations")(0); },
            "lockstepWatchOperations");
  broken_by([] { extension<lockstepMarkUnwritten_t>("lockstepMarkUnwritten")(nullptr, 0); },
            "lockstepMarkUnwritten");
  broken_by([] { extension<lockstepNameBuffer_t>("lockstepNameBuffer")(nullptr, 0, ""); },
            "lockstepNameBuffer");
  broken_by([] { extension<lockstepTranscribe_t>("lockstepTranscribe")(0); }, "lockstepTranscribe");
  broken_by([] { extension<lockstepTakeTranscript_t>("lockstepTakeTranscript")(); },
            "lockstepTakeTranscript");
  broken_by([] { extension<lockstepSeal_t>("lockstepSeal")(8); }, "lockstepSeal");
  broken_by([] { extension<lockstepUnseal_t>("lockstepUnseal")(8); }, "lockstepUnseal");
  EXPECT_EQ(seal(7), 0);
  extension<lockstepReadOperations_t>("lockstepReadOperations")(nullptr, 0);
  EXPECT_EQ(unseal(7), 0);
  take();
  EXPECT_EXIT(unseal(7), ::testing::ExitedWithCode(LOCKSTEP_EXIT_SEAL_BROKEN), "lockstepUnseal");
}

CUDA_TEST(Extension, AFindingNamesTheAccessAndTheAllocation) {
  quiet();
  int* p = device_ints(10);
  kernels::store(p, 10, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  const auto& f = findings[0];
  EXPECT_EQ(f["kind"], "out-of-bounds");
  EXPECT_EQ(f["severity"], "error");
  EXPECT_NE(f["kernel"].get<std::string>().find("store_kernel"), std::string::npos);
  EXPECT_EQ(f["space"], "global");
  EXPECT_EQ(f["address"], reinterpret_cast<std::uintptr_t>(p + 10));
  EXPECT_EQ(f["size"], 4);
  EXPECT_EQ(f["write"], true);
  EXPECT_EQ(f["block"], (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(f["thread"], (std::vector<int>{0, 0, 0}));
  EXPECT_NE(f["where"].get<std::string>().find("40 bytes"), std::string::npos) << f["where"];
  EXPECT_TRUE(take().empty()) << "taken is taken";
}

CUDA_TEST(Extension, AClearedErrorLeavesDeviceAndMemory) {
  quiet();
  int* p = device_ints(1);
  kernels::store(p, 0, 77);
  kernels::store(p, 1, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  EXPECT_EQ(clear_error(), 0);
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  int h = 0;
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(h, 77);
  take();
}

// The kernel only copies its input: the host's read is the mistake.
CUDA_TEST(Extension, TheHostReadsWhatAKernelCopiedFromMemoryThatNobodyWrote) {
  quiet();
  int *x = device_ints(8), *y = device_ints(8), h[8];
  EXPECT_CUDA(cudaSuccess, cudaMemset(x, 1, 4 * sizeof(int)));
  EXPECT_CUDA(cudaSuccess, cudaMemset(y, 1, 8 * sizeof(int)));
  kernels::copy(y, x, 8);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_TRUE(take().empty()) << "a copy is no use";
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, y, 4 * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_TRUE(take().empty()) << "these were written";
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost));
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["kind"], "uninitialised");
  EXPECT_EQ(findings[0]["severity"], "error");
  EXPECT_NE(findings[0]["kernel"].get<std::string>().find("copy"), std::string::npos);
  EXPECT_EQ(findings[0]["address"], reinterpret_cast<std::uintptr_t>(y + 4));
  EXPECT_NE(findings[0]["where"].get<std::string>().find("cudaMemcpy copies 16 bytes"),
            std::string::npos)
      << findings[0]["where"];
}

CUDA_TEST(Extension, ErrorsAreTakenWithoutWhatOnlyInforms) {
  quiet();
  const auto errors = [] {
    char* text = extension<lockstepTakeErrors_t>("lockstepTakeErrors")();
    const auto json = nlohmann::json::parse(text);
    std::free(text);
    return json;
  };
  int *p = device_ints(4), h[4];
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(errors().empty()) << "a copy of unwritten bytes informs";
  EXPECT_TRUE(take().empty()) << "and is dropped";
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, device_ints(4), sizeof h, cudaMemcpyDeviceToHost));
  kernels::store(p, 4, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["kind"], "out-of-bounds");
  EXPECT_TRUE(errors().empty()) << "taken is taken";
}

CUDA_TEST(Extension, BytesThatNobodyWroteAreInformationOnceAnAllocation) {
  quiet();
  int *x = device_ints(4), h[4];
  EXPECT_CUDA(cudaSuccess, cudaMemset(x, 1, 3 * sizeof(int)));
  for (int i = 0; i < 2; ++i)
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost));
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["severity"], "information");
  EXPECT_NE(findings[0]["where"].get<std::string>().find(
                "4 bytes to the host that nobody has written, the first 12 bytes into"),
            std::string::npos);
}

CUDA_TEST(Extension, AnOutputCanBeDeclaredUnwritten) {
  quiet();
  int *x = device_ints(4), *y = device_ints(4), h = 0;
  EXPECT_CUDA(cudaSuccess, cudaMemset(x, 1, 4 * sizeof(int)));
  EXPECT_CUDA(cudaSuccess, cudaMemset(y, 1, 4 * sizeof(int)));
  const auto forget = extension<lockstepMarkUnwritten_t>("lockstepMarkUnwritten");
  EXPECT_EQ(forget(x, 4 * sizeof(int)), 0);
  EXPECT_EQ(forget(x + 3, 8), -1) << "past the end";
  EXPECT_EQ(forget(&h, 4), -1) << "no device memory";
  kernels::copy(y, x, 4);
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(&h, y, sizeof h, cudaMemcpyDeviceToHost));
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["kind"], "uninitialised");
}

CUDA_TEST(Extension, ClearsTheErrorsOfAllDevices) {
  quiet();
  ASSERT_CUDA(cudaSuccess, cudaSetDevice(1));
  int* p = device_ints(4);
  kernels::store(p, 4, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  ASSERT_CUDA(cudaSuccess, cudaSetDevice(0));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(take().size(), 1u);
  EXPECT_EQ(clear_error(), 0);
  ASSERT_CUDA(cudaSuccess, cudaSetDevice(1));
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  ASSERT_CUDA(cudaSuccess, cudaSetDevice(0));
}

CUDA_TEST(Extension, UseAfterFreeIsOne) {
  quiet();
  int* p = device_ints(4);
  ASSERT_CUDA(cudaSuccess, cudaFree(p));
  kernels::store(p, 2, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["kind"], "use-after-free");
}

// The findings of a kernel that branches on from[0].
std::string found_by_deciding(int* to, const int* from) {
  kernels::decide(to, from);
  cudaDeviceSynchronize();
  const auto findings = take();
  clear_error();
  return findings.empty() ? "" : findings[0]["kind"].get<std::string>();
}

CUDA_TEST(Extension, CopiesAndFillsDecideWhatCountsAsWritten) {
  quiet();
  int *a = device_ints(4), *b = device_ints(4), *to = device_ints(4);
  int h[4] = {1, 2, 3, 4};
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(a, h, 4, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(b, a, 16, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(found_by_deciding(to, b), "") << "written by the host, copied on the device";
  EXPECT_EQ(found_by_deciding(to, b + 1), "uninitialised") << "never written, copied on the device";
  ASSERT_CUDA(cudaSuccess, cudaMemset(b + 1, 0, 4));
  EXPECT_EQ(found_by_deciding(to, b + 1), "") << "written by cudaMemset";
}

CUDA_TEST(Extension, ChecksCanBeSwitchedOff) {
  quiet();
  int *a = device_ints(4), *to = device_ints(4);
  const auto set = extension<lockstepSetChecks_t>("lockstepSetChecks");
  const std::uint32_t all = set(1);
  EXPECT_EQ(all, 15u) << "all but leaks on by default";
  EXPECT_EQ(found_by_deciding(to, a), "") << "initialisation is off";
  EXPECT_EQ(set(all), 1u);
  EXPECT_EQ(found_by_deciding(to, a), "uninitialised");
}

CUDA_TEST(Extension, NamedBuffersHaveBoundsOfTheirOwn) {
  quiet();
  int* p = device_ints(100);
  const auto name = extension<lockstepNameBuffer_t>("lockstepNameBuffer");
  EXPECT_EQ(name(p + 10, 20 * sizeof(int), "image"), 0);
  EXPECT_EQ(name(p + 10, 100 * sizeof(int), "image"), -1) << "longer than the allocation";
  kernels::store(p, 10, 1);
  kernels::store(p, 29, 1);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSuccess, cudaMemset(p, 0, 400)) << "host copies reach all of it";
  kernels::store(p, 30, 1);
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  const auto findings = take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0]["where"].get<std::string>().find("image"), std::string::npos)
      << findings[0]["where"];
}

CUDA_TEST(Extension, CountersCountFromTheReset) {
  lockstepCounters c = {};
  c.size = sizeof c;
  const auto reset = extension<lockstepResetCounters_t>("lockstepResetCounters");
  const auto read = extension<lockstepReadCounters_t>("lockstepReadCounters");
  int *a = device_ints(64), *b = device_ints(64);
  ASSERT_CUDA(cudaSuccess, cudaMemset(a, 0, 256));
  kernels::copy(b, a, 64);
  EXPECT_EQ(reset(), 0);
  kernels::copy(b, a, 64);
  EXPECT_EQ(read(&c), 0);
  EXPECT_EQ(c.launches, 1u);
  EXPECT_EQ(c.global_load_requests, 2u) << "two warps";
  EXPECT_EQ(c.global_load_sectors, 8u) << "128 bytes a warp, 32 a sector";
  EXPECT_EQ(c.global_store_sectors, 8u);
  EXPECT_GT(c.warp_instructions, 0u);
  EXPECT_GE(c.thread_instructions, 32 * c.warp_instructions / 2);
  c.size = 8;
  EXPECT_EQ(read(&c), 0) << "an older, shorter structure";
  c.size = sizeof c + 1;
  EXPECT_EQ(read(&c), -1);
}

void watch(bool on) {
  EXPECT_EQ(extension<lockstepWatchOperations_t>("lockstepWatchOperations")(on), 0);
}

std::vector<lockstepOperation> operations() {
  const auto read = extension<lockstepReadOperations_t>("lockstepReadOperations");
  std::vector<lockstepOperation> all(read(nullptr, 0));
  EXPECT_EQ(read(all.data(), all.size()), all.size());
  return all;
}

void expect_operation(const lockstepOperation& o, int kind, cudaStream_t stream, bool captured,
                      const std::string& call) {
  EXPECT_EQ(o.kind, kind) << call;
  EXPECT_EQ(o.stream, stream) << call;
  EXPECT_EQ(o.captured, captured) << call;
  EXPECT_EQ(o.error, cudaSuccess) << call;
  EXPECT_EQ(o.call, call);
}

CUDA_TEST(Operations, AreListedWithTheirStreams) {
  int *a = device_ints(64), *b = device_ints(64);
  cudaStream_t s;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  ASSERT_CUDA(cudaSuccess, cudaMemset(a, 0, 256));
  EXPECT_TRUE(operations().empty()) << "nobody has asked yet";
  watch(true);
  ASSERT_CUDA(cudaSuccess, cudaMemsetAsync(a, 0, 256, s));
  ASSERT_CUDA(cudaSuccess, cudaMemcpy(b, a, 256, cudaMemcpyDeviceToDevice));
  kernels::nothing(1, 1, 0, s);
  ASSERT_CUDA(cudaSuccess, cudaLaunchHostFunc(
                               s, [](void*) {}, nullptr));
  auto all = operations();
  ASSERT_EQ(all.size(), 4u);
  expect_operation(all[0], LOCKSTEP_FILL, s, false, "cudaMemsetAsync");
  expect_operation(all[1], LOCKSTEP_COPY, nullptr, false, "cudaMemcpy");
  expect_operation(all[2], LOCKSTEP_KERNEL, s, false, "cudaLaunchKernel");
  expect_operation(all[3], LOCKSTEP_OTHER_WORK, s, false, "cudaLaunchHostFunc");
  lockstepOperation two[2];
  EXPECT_EQ(extension<lockstepReadOperations_t>("lockstepReadOperations")(two, 2), 4u)
      << "no more than there is room for";
  watch(true);
  EXPECT_TRUE(operations().empty()) << "those so far are forgotten";
  ASSERT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_TRUE(operations().empty()) << "to wait is nothing that a stream does";
  watch(false);
  kernels::nothing(1, 1, 0, s);
  EXPECT_TRUE(operations().empty()) << "nobody asks any more";
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
}

std::size_t under_way() { return extension<lockstepUnderWay_t>("lockstepUnderWay")(); }

CUDA_TEST(UnderWay, IsWhatReturnsBeforeItIsDone) {
  int *a = device_ints(64), *b = device_ints(64), *pinned = nullptr;
  int pageable[64] = {};
  ASSERT_CUDA(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&pinned), 256));
  cudaStream_t s;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const auto after = [](const std::function<void()>& call) {
    EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(under_way(), 0u) << "after a wait";
    call();
    return under_way();
  };
  EXPECT_EQ(after([&] { kernels::nothing(1, 1, 0, s); }), 1u);
  EXPECT_EQ(after([&] {
              kernels::nothing(1, 1, 0, s);
              EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
            }),
            0u);
  const auto copied = [&](void* to, const void* from, bool waits) {
    return after([&] {
      EXPECT_CUDA(cudaSuccess, waits ? cudaMemcpy(to, from, 256, cudaMemcpyDefault)
                                     : cudaMemcpyAsync(to, from, 256, cudaMemcpyDefault, s));
    });
  };
  EXPECT_EQ(copied(b, a, false), 1u);
  EXPECT_EQ(copied(b, a, true), 1u) << "of device memory the host does not wait";
  EXPECT_EQ(copied(pinned, a, false), 1u);
  EXPECT_EQ(copied(pinned, a, true), 0u);
  EXPECT_EQ(copied(pageable, a, false), 1u) << "an asynchronous one might be synchronous";
  EXPECT_EQ(copied(a, pageable, true), 1u) << "once the bytes are in a staging buffer";
  EXPECT_EQ(copied(a, pinned, true), 0u);
  EXPECT_EQ(after([&] { EXPECT_CUDA(cudaSuccess, cudaMemset(a, 0, 256)); }), 1u);
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  EXPECT_CUDA(cudaSuccess, cudaFreeHost(pinned));
}

CUDA_TEST(BeforeCalls, AnnouncesTheCallsOfThisThreadAlone) {
  const auto before_calls = extension<lockstepBeforeCalls_t>("lockstepBeforeCalls");
  int announced = 0;
  const auto count = [](void* data) {
    ++*static_cast<int*>(data);
    int device = -1;
    EXPECT_CUDA(cudaSuccess, cudaGetDevice(&device));  // this call is not announced
  };
  EXPECT_EQ(before_calls(count, &announced), 0);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(announced, 1);
  std::thread([] { EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize()); }).join();
  EXPECT_EQ(announced, 1) << "another thread calls";
  kernels::nothing(1, 1);
  EXPECT_GE(announced, 2);
  EXPECT_EQ(before_calls(nullptr, nullptr), 0);
  const int until = announced;
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(announced, until) << "nobody asks any more";
}

CUDA_TEST(SetError, FailsEachCallOfTheThreadUntilItIsTakenBack) {
  const auto set_error = extension<lockstepSetError_t>("lockstepSetError");
  void* memory = nullptr;
  EXPECT_EQ(set_error(cudaErrorECCUncorrectable), 0);
  EXPECT_CUDA(cudaSuccess, cudaPeekAtLastError()) << "no call has failed yet";
  EXPECT_CUDA(cudaErrorECCUncorrectable, cudaMalloc(&memory, 16));
  EXPECT_EQ(memory, nullptr) << "nothing is done";
  int device = -1;
  EXPECT_CUDA(cudaErrorECCUncorrectable, cudaGetDevice(&device)) << "which is none of the device";
  EXPECT_EQ(device, -1);
  std::thread([&] { EXPECT_CUDA(cudaSuccess, cudaGetDevice(&device)) << "another thread"; }).join();
  EXPECT_CUDA(cudaErrorECCUncorrectable, cudaPeekAtLastError());
  EXPECT_EQ(set_error(cudaSuccess), 0);
  EXPECT_CUDA(cudaErrorECCUncorrectable, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&memory, 16));
  EXPECT_CUDA(cudaSuccess, cudaFree(memory));
}

CUDA_TEST(LiveObjects, AreWhatIsMadeAndNotGivenBack) {
  const auto live_objects = extension<lockstepLiveObjects_t>("lockstepLiveObjects");
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  const std::size_t before = live_objects();
  void *memory = nullptr, *of_the_host = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&memory, 16));
  EXPECT_EQ(live_objects(), before + 1);
  EXPECT_CUDA(cudaSuccess, cudaMallocHost(&of_the_host, 16));
  EXPECT_EQ(live_objects(), before + 2);
  EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&stream));
  EXPECT_EQ(live_objects(), before + 3);
  EXPECT_CUDA(cudaSuccess, cudaEventCreate(&event));
  EXPECT_EQ(live_objects(), before + 4);
  EXPECT_CUDA(cudaSuccess, cudaGraphCreate(&graph, 0));
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(live_objects(), before + 5);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaSuccess, cudaEventDestroy(event));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(stream));
  EXPECT_CUDA(cudaSuccess, cudaFreeHost(of_the_host));
  EXPECT_CUDA(cudaSuccess, cudaFree(memory));
  EXPECT_EQ(live_objects(), before);
  kernels::add_to_variables(0);
  EXPECT_EQ(live_objects(), before) << "a module has come with its variables";
}

CUDA_TEST(Limits, AreSetAsideAndBroughtBack) {
  const auto aside = extension<lockstepSetLimitsAside_t>("lockstepSetLimitsAside");
  const auto read = extension<lockstepReadLimits_t>("lockstepReadLimits");
  const void* const one = kernels::nothing_function();
  const void* const other = kernels::bounded_function();
  constexpr auto kShared = cudaFuncAttributeMaxDynamicSharedMemorySize;
  constexpr int kDefault = 48 << 10;
  const auto shared = [](const void* function) {
    cudaFuncAttributes attributes = {};
    EXPECT_CUDA(cudaSuccess, cudaFuncGetAttributes(&attributes, function));
    return attributes.maxDynamicSharedSizeBytes;
  };
  EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(one, kShared, 60000));
  EXPECT_EQ(aside(1), 0);
  EXPECT_EQ(read(nullptr, 0), 0u);
  EXPECT_EQ(shared(one), kDefault);
  EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(one, kShared, 50000));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaFuncSetAttribute(one, kShared, -1));
  EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(other, kShared, 51000));
  lockstepLimit limits[3] = {};
  ASSERT_EQ(read(limits, 1), 2u);
  EXPECT_EQ(limits[1].function, nullptr) << "as many as there is room for";
  ASSERT_EQ(read(limits, 3), 2u);
  EXPECT_EQ(limits[0].function, one);
  EXPECT_EQ(limits[0].attribute, kShared);
  EXPECT_EQ(limits[0].value, 50000);
  EXPECT_EQ(limits[1].function, other);
  EXPECT_EQ(limits[1].value, 51000);
  EXPECT_EQ(aside(0), 0);
  EXPECT_EQ(shared(one), 60000);
  EXPECT_EQ(shared(other), 51000) << "nothing was set for it before";
  EXPECT_CUDA(cudaSuccess, cudaFuncSetAttribute(one, kShared, 52000));
  EXPECT_EQ(read(nullptr, 0), 2u) << "of what is set now nothing is kept";
}

CUDA_TEST(ChangedProperties, AreWhatTheDeviceSaysOfItself) {
  const auto set = extension<lockstepSetProperty_t>("lockstepSetProperty");
  const auto asked = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_CUDA(cudaSuccess, cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  cudaDeviceProp own, changed;
  EXPECT_CUDA(cudaSuccess, cudaGetDeviceProperties(&own, 0));
  // Each counter alone, with its field.
  int fields = 0;
  for (int i = cudaDevAttrMaxThreadsPerBlock; i < cudaDevAttrMax; ++i) {
    const auto which = static_cast<cudaDeviceAttr>(i);
    const int before = asked(which);
    EXPECT_EQ(set(which, 12345), 0);
    EXPECT_EQ(asked(which), 12345) << which;
    EXPECT_CUDA(cudaSuccess, cudaGetDeviceProperties(&changed, 0));
    fields += std::memcmp(&own, &changed, sizeof own) != 0;
    EXPECT_EQ(set(-1, 0), 0);
    EXPECT_EQ(asked(which), before) << which;
  }
  EXPECT_EQ(fields, 41);
  EXPECT_EQ(set(cudaDevAttrMaxSharedMemoryPerBlockOptin, 1000), 0);
  EXPECT_CUDA(cudaSuccess, cudaGetDeviceProperties(&changed, 0));
  EXPECT_EQ(changed.sharedMemPerBlockOptin, 1000u);
  EXPECT_EQ(changed.sharedMemPerMultiprocessor, own.sharedMemPerMultiprocessor);
  EXPECT_EQ(set(-1, 0), 0);
  EXPECT_CUDA(cudaSuccess, cudaGetDeviceProperties(&changed, 0));
  EXPECT_EQ(std::memcmp(&own, &changed, sizeof own), 0);
}

CUDA_TEST(Operations, AreCapturedOrDone) {
  int* a = device_ints(64);
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  watch(true);
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  ASSERT_CUDA(cudaSuccess, cudaMemsetAsync(a, 0, 256, s));
  kernels::nothing(1, 1, 0, s);
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &graph));
  ASSERT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_CUDA(cudaSuccess, cudaGraphLaunch(exec, s));
  const auto all = operations();
  watch(false);
  ASSERT_EQ(all.size(), 3u) << "what the graph does is no operation of its own";
  expect_operation(all[0], LOCKSTEP_FILL, s, true, "cudaMemsetAsync");
  expect_operation(all[1], LOCKSTEP_KERNEL, s, true, "cudaLaunchKernel");
  expect_operation(all[2], LOCKSTEP_OTHER_WORK, s, false, "cudaGraphLaunch");
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(s));
}

CUDA_TEST(Operations, IncludeCallsThatFailed) {
  quiet();
  int* a = device_ints(4);
  watch(true);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(a, 0, 17));
  kernels::nothing(1, 1025, 0, nullptr);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGetLastError());
  const auto all = operations();
  watch(false);
  ASSERT_EQ(all.size(), 2u) << "nothing was done";
  for (const auto& o : all) {
    EXPECT_EQ(o.kind, LOCKSTEP_FAILED_CALL);
    EXPECT_EQ(o.error, cudaErrorInvalidValue);
  }
  EXPECT_STREQ(all[0].call, "cudaMemset");
  EXPECT_STREQ(all[1].call, "cudaLaunchKernel");
}

CUDA_TEST(Extension, SchedulesDoNotChangeResults) {
  const auto set = extension<lockstepSetSchedule_t>("lockstepSetSchedule");
  int* p = device_ints(1);
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_EQ(set(seed), 0);
    ASSERT_CUDA(cudaSuccess, cudaMemset(p, 0, 4));
    kernels::count_threads(p, 7, 96);
    int h = 0;
    ASSERT_CUDA(cudaSuccess, cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(h, 7 * 96);
  }
}

CUDA_TEST(Extension, AnAbsentFunctionIsNotSupported) {
  cudaExternalMemoryHandleDesc handle = {};
  cudaExternalMemory_t memory = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_CUDA(cudaErrorNotSupported, cudaImportExternalMemory(&memory, &handle));
  EXPECT_CUDA(cudaErrorNotSupported, cudaImportExternalMemory(&memory, &handle));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lockstep: cudaImportExternalMemory is not supported by the simulated GPU\n")
      << "said once";
  EXPECT_CUDA(cudaErrorNotSupported, cudaGetLastError());
}

CUDA_TEST(Extension, ARefusedCopyIsExplained) {
  int* p = device_ints(4);
  char h[32];
  testing::internal::CaptureStderr();
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(h, p + 1, 16, cudaMemcpyDeviceToHost));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "lockstep: cudaMemcpy: the source range of 16 bytes begins 4 bytes into cudaMalloc #1 "
            "(16 bytes) and ends 4 bytes past its end\n");
}

CUDA_TEST(Extension, AnArrayIsNotCalledHostMemory) {
  const cudaChannelFormatDesc format =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMallocArray(&array, &format, 8, 1, cudaArrayDefault));
  int h[8] = {};
  testing::internal::CaptureStderr();
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(array, h, sizeof h, cudaMemcpyHostToDevice));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lockstep: cudaMemcpy: the destination is a cudaArray_t, which has no address: "
            "cudaMemcpy2DToArray, cudaMemcpy2DFromArray and cudaMemcpy3D copy arrays\n");
  EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(h, array, sizeof h, cudaMemcpyDefault));
  EXPECT_CUDA(cudaSuccess, cudaFreeArray(array));
}

CUDA_TEST(Extension, AnOddAllocationEndsWithItsLastByte) {
  for (const std::size_t size : {1, 5, 63, 4097}) {
    void* memory = nullptr;
    ASSERT_CUDA(cudaSuccess, cudaMalloc(&memory, size));
    char* const p = static_cast<char*>(memory);
    std::vector<char> h(size + 1);
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(p, h.data(), size, cudaMemcpyHostToDevice)) << size;
    EXPECT_CUDA(cudaSuccess, cudaMemset(p + size - 1, 1, 1)) << size;
    EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(p, h.data(), size + 1, cudaMemcpyHostToDevice))
        << size;
    EXPECT_CUDA(cudaErrorInvalidValue, cudaMemcpy(h.data(), p + 1, size, cudaMemcpyDeviceToHost))
        << size;
    EXPECT_CUDA(cudaErrorInvalidValue, cudaMemset(p + size, 1, 1)) << size;
    EXPECT_CUDA(cudaSuccess, cudaFree(p));
  }
}

CUDA_TEST(Extension, UnknownStreamsAndEventsAreRefused) {
  // Hardware's library crashes on these.
  cudaStream_t s;
  cudaEvent_t e;
  ASSERT_CUDA(cudaSuccess, cudaStreamCreate(&s));
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&e));
  ASSERT_CUDA(cudaSuccess, cudaStreamDestroy(s));
  ASSERT_CUDA(cudaSuccess, cudaEventDestroy(e));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaStreamDestroy(s));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(e, nullptr));
  kernels::nothing(1, 1, 0, s);
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

CUDA_TEST(Threads, EachHasItsLastErrorAndItsConfigurations) {
  constexpr int kThreads = 8, kRounds = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      int* p = device_ints(1);
      for (int i = 0; i < kRounds; ++i) {
        if (t % 2 == 0) {
          EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(99));
        }
        ASSERT_CUDA(cudaSuccess, cudaMemset(p, 0, 4));
        kernels::count_threads(p, t + 1, 32);
        int h = 0;
        ASSERT_CUDA(cudaSuccess, cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
        EXPECT_EQ(h, 32 * (t + 1));
        EXPECT_CUDA(t % 2 == 0 ? cudaErrorInvalidDevice : cudaSuccess, cudaGetLastError());
      }
      EXPECT_CUDA(cudaSuccess, cudaFree(p));
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace lockstep::runtime
