// lockstepTranscribe: records the operations of a device so that another process can replay them.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/extension.h"
#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

template <class T>
T extension(const char* name) {
  return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

void transcribe(bool on) {
  ASSERT_EQ(extension<lockstepTranscribe_t>("lockstepTranscribe")(on), 0);
}

// The events since the last call, of one kind; of all kinds if `kind` is empty.
std::vector<nlohmann::json> take(const std::string& kind = {}) {
  char* text = extension<lockstepTakeTranscript_t>("lockstepTakeTranscript")();
  std::vector<nlohmann::json> events;
  for (const auto& event : nlohmann::json::parse(text))
    if (kind.empty() || event.at("do") == kind) events.push_back(event);
  std::free(text);
  return events;
}

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

int* ints(std::size_t count) {
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), count * sizeof(int)));
  return p;
}

CUDA_TEST(Transcript, HasWhatWasPlacedLoadedAndLaunched) {
  transcribe(true);
  take();
  int* const p = ints(8);
  kernels::store(p, 3, 7);
  const auto events = take();
  std::uint64_t module = 0;
  bool placed = false, launched = false;
  for (const auto& e : events) {
    if (e["do"] == "place") {
      EXPECT_FALSE(placed) << "what a module brings along is no allocation of the program's";
      placed = e["base"] == number(p) && e["size"] == 32 && e["kind"] == "device";
    } else if (e["do"] == "load") {
      module = e["module"];
      EXPECT_EQ(e["texts"].size(), 1u);
    } else if (e["do"] == "launch") {
      launched = true;
      EXPECT_EQ(e["grid"], nlohmann::json({1, 1, 1}));
      EXPECT_EQ(e["shared"], 0);
      EXPECT_EQ(e.count("cluster"), 0u);
      const std::string parameters = e["parameters"];  // of 8, 8 and 4 bytes
      EXPECT_EQ(parameters.size(), 40u);
      EXPECT_EQ(parameters.substr(16), "030000000000000007000000");
      if (module != 0) {
        EXPECT_EQ(e["module"], module);
      }
    }
  }
  EXPECT_TRUE(placed && launched) << nlohmann::json(events).dump(1);
  EXPECT_CUDA(cudaSuccess, cudaFree(p));
  const auto freed = take("free");
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0]["base"], number(p));
  transcribe(false);
}

CUDA_TEST(Transcript, HasCopiesAndFills) {
  int *const a = ints(8), *const b = ints(8);
  const int values[2] = {1, -1};
  transcribe(true);
  take();
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy2D(b, 8, a, 4, 4, 2, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaSuccess, cudaMemset(a, 0xa5, 12));
  int back[2];
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost));
  const auto events = take();
  ASSERT_EQ(events.size(), 4u) << nlohmann::json(events).dump(1);
  EXPECT_EQ(events[0]["do"], "write");
  EXPECT_EQ(events[0]["to"][0], number(a));
  EXPECT_EQ(events[0]["bytes"], "01000000ffffffff");
  EXPECT_EQ(events[1]["do"], "copy");
  EXPECT_EQ(events[1]["to"][1], 8);
  EXPECT_EQ(events[1]["from"], nlohmann::json({number(a), 4, 8}));
  EXPECT_EQ(events[1]["shape"], nlohmann::json({4, 2, 1}));
  EXPECT_EQ(events[2]["do"], "fill");
  EXPECT_EQ(events[2]["value"], 0xa5);
  EXPECT_EQ(events[2]["element"], 1);
  EXPECT_EQ(events[2]["shape"], nlohmann::json({12, 1, 1}));
  EXPECT_EQ(events[3]["do"], "read");
  transcribe(false);
  EXPECT_CUDA(cudaSuccess, cudaMemset(a, 0, 4));
  EXPECT_TRUE(take().empty()) << "it was turned off";
  cudaFree(a);
  cudaFree(b);
}

// The transcript holds the operations that the graph's launch executes.
CUDA_TEST(Transcript, HasTheWorkOfAGraph) {
  int* const p = ints(1);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&stream));
  EXPECT_CUDA(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  kernels::store(p, 0, 5, stream);
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
  transcribe(true);
  take();
  for (int i = 0; i < 2; ++i) EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(exec, stream));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(stream));
  EXPECT_EQ(take("launch").size(), 2u);
  transcribe(false);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(p);
}

CUDA_TEST(Transcript, MemoryIsPlacedWhereItIsFree) {
  const auto place = extension<lockstepPlaceMemory_t>("lockstepPlaceMemory");
  const auto next = extension<lockstepPlaceNext_t>("lockstepPlaceNext");
  int* const p = ints(64);
  char* const free = reinterpret_cast<char*>(p) + (std::size_t{1} << 32);
  EXPECT_EQ(place(p, 4), -1) << "there is an allocation";
  EXPECT_EQ(place(free, 100), 0);
  EXPECT_EQ(place(free + 4, 4), -1);
  kernels::store(reinterpret_cast<int*>(free), 24, 1);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSuccess, cudaFree(free));
  EXPECT_EQ(next(free), 0);
  int* const q = ints(64);
  EXPECT_GE(number(q), number(free)) << "the search began there";
  EXPECT_LT(number(q), number(free) + (1 << 22));
  EXPECT_EQ(next(reinterpret_cast<void*>(8)), -1);
  EXPECT_EQ(next(p), 0);
  cudaFree(p);
  cudaFree(q);
}

}  // namespace
}  // namespace lockstep::runtime
