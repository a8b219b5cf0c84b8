// Findings of the simulated GPU for mistakes with memory of graphs.
#include <dlfcn.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "simulator/extension.h"
#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

template <class T>
T extension(const char* name) {
  return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

// The findings with severity error so far.
nlohmann::json errors() {
  char* text = extension<lockstepTakeFindings_t>("lockstepTakeFindings")();
  const auto all = nlohmann::json::parse(text);
  std::free(text);
  nlohmann::json result = nlohmann::json::array();
  for (const auto& f : all)
    if (f["severity"] == "error") result.push_back(f);
  return result;
}

void quiet() { extension<lockstepSetQuiet_t>("lockstepSetQuiet")(1); }

bool has(const nlohmann::json& finding, const char* text) {
  return finding.dump().find(text) != std::string::npos;
}

// Executes the graph once.
void execute(cudaGraph_t g) {
  const cudaGraphExec_t e = new_exec(g);
  cudaGraphLaunch(e, new_stream());
  cudaDeviceSynchronize();
}

CUDA_TEST(GraphMemory, IsNotUsedBeforeItsAllocationNode) {
  quiet();
  const cudaGraph_t g = new_graph();
  int *p = nullptr, *q = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&q), 4));
  const cudaGraphNode_t first = store_node(g, q, 0, 1);
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64, first);
  const cudaGraphNode_t early = store_node(g, p, 0, 1);
  EXPECT_CUDA(cudaSuccess, cudaGraphAddDependencies(g, &early, &first, nullptr, 1));
  (void)allocated;
  execute(g);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "use-after-free");
  EXPECT_TRUE(has(found[0], "memory of a graph that is not allocated now")) << found.dump(2);
}

CUDA_TEST(GraphMemory, IsNotUsedBehindItsFreeNode) {
  quiet();
  const cudaGraph_t g = new_graph();
  int* p = nullptr;
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  const cudaGraphNode_t freed = free_node(g, p, allocated);
  store_node(g, p, 0, 1, freed);
  execute(g);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "use-after-free");
  EXPECT_TRUE(has(found[0], "store_kernel")) << found.dump(2);
}

CUDA_TEST(GraphMemory, IsNotCopiedBehindTheLaunchThatFreesIt) {
  quiet();
  const cudaGraph_t g = new_graph();
  int *p = nullptr, host = 0;
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  free_node(g, p, store_node(g, p, 0, 1, allocated));
  const cudaStream_t s = new_stream();
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(new_exec(g), s));
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, s));
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "use-after-free");
  EXPECT_TRUE(has(found[0], "cudaMemcpyAsync in stream 3 reads 4 bytes")) << found.dump(2);
}

CUDA_TEST(GraphMemory, IsUsedInNoOrderWithItsAllocationNode) {
  quiet();
  const cudaGraph_t g = new_graph();
  int* p = nullptr;
  allocate_node(g, &p, 64);
  store_node(g, p, 0, 1);
  execute(g);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "race");
  EXPECT_TRUE(has(found[0], "allocates")) << found.dump(2);
}

CUDA_TEST(GraphMemory, IsUsedInNoOrderWithItsFreeNode) {
  quiet();
  const cudaGraph_t g = new_graph();
  int* p = nullptr;
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  store_node(g, p, 0, 1, allocated);
  free_node(g, p, allocated);
  execute(g);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "race");
  EXPECT_TRUE(has(found[0], "store_kernel")) << found.dump(2);
}

CUDA_TEST(GraphMemory, HasNoContentsAtTheNextLaunch) {
  quiet();
  const cudaGraph_t g = new_graph();
  int *p = nullptr, *q = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&q), 4));
  const cudaGraphNode_t allocated = allocate_node(g, &p, 64);
  const cudaStream_t s = new_stream();
  const cudaGraphExec_t e = new_exec(g, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  (void)allocated;
  launch_and_wait(e, s);
  kernels::store(p, 0, 1, s);
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  launch_and_wait(e, s);
  kernels::decide(q, p);
  cudaDeviceSynchronize();
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "uninitialised");
}

}  // namespace
}  // namespace lockstep::runtime
