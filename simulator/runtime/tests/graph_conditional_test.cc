// Conditional nodes of graphs: execution, order, and findings for mistakes.
#include <dlfcn.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulator/extension.h"
#include "simulator/runtime/tests/conditional_kernels.h"
#include "simulator/runtime/tests/graph_nodes.h"

namespace lockstep::runtime {
namespace {

using Handle = cudaGraphConditionalHandle;

Handle new_handle(cudaGraph_t g, unsigned value = 0, unsigned flags = 0) {
  Handle handle = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphConditionalHandleCreate(&handle, g, value, flags));
  return handle;
}
Handle with_default(cudaGraph_t g, unsigned value) {
  return new_handle(g, value, cudaGraphCondAssignDefault);
}

using Nodes = std::vector<cudaGraphNode_t>;

template <class... Arguments>
cudaGraphNode_t kernel_node(cudaGraph_t g, const Nodes& after, const void* function,
                            Arguments... arguments) {
  void* addresses[] = {&arguments...};
  cudaKernelNodeParams k = {};
  k.func = const_cast<void*>(function);
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = addresses;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphAddKernelNode(&node, g, after.data(), after.size(), &k));
  return node;
}
cudaGraphNode_t add_node(cudaGraph_t g, const Nodes& after, int* to, int value) {
  return kernel_node(g, after, kernels::add_function(), to, value);
}

struct Conditional {
  cudaGraphNode_t node = nullptr;
  std::vector<cudaGraph_t> bodies;
};

cudaError_t add_conditional(cudaGraph_t g, const Nodes& after, Handle handle,
                            cudaGraphConditionalNodeType type, unsigned size, Conditional* result) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  const cudaError_t error =
      cudaGraphAddNode(&result->node, g, after.data(), nullptr, after.size(), &p);
  if (error == cudaSuccess)
    result->bodies.assign(p.conditional.phGraph_out, p.conditional.phGraph_out + size);
  return error;
}

Conditional conditional(cudaGraph_t g, const Nodes& after, Handle handle,
                        cudaGraphConditionalNodeType type, unsigned size = 1) {
  Conditional made;
  EXPECT_CUDA(cudaSuccess, add_conditional(g, after, handle, type, size, &made));
  return made;
}

// The findings with severity error so far.
nlohmann::json errors() {
  char* text =
      reinterpret_cast<lockstepTakeFindings_t>(dlsym(RTLD_DEFAULT, "lockstepTakeFindings"))();
  const auto all = nlohmann::json::parse(text);
  std::free(text);
  nlohmann::json result = nlohmann::json::array();
  for (const auto& f : all)
    if (f["severity"] == "error") result.push_back(f);
  return result;
}
void quiet() { reinterpret_cast<lockstepSetQuiet_t>(dlsym(RTLD_DEFAULT, "lockstepSetQuiet"))(1); }

CUDA_TEST(Conditional, IfExecutesTheBodyThatTheValueSelects) {
  int* x = device_ints(3);
  for (const unsigned value : {0u, 1u, 7u}) {
    const cudaGraph_t g = new_graph();
    const Handle h = new_handle(g);
    const auto set = kernel_node(g, {}, kernels::set_condition_function(), h, value);
    const Conditional c = conditional(g, {set}, h, cudaGraphCondTypeIf, 2);
    add_node(c.bodies[0], {}, x, 1);
    add_node(c.bodies[1], {}, x + 1, 1);
    add_node(g, {c.node}, x + 2, 1);
    cudaGraphNodeType type;
    EXPECT_CUDA(cudaSuccess, cudaGraphNodeGetType(c.node, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeConditional);
    launch_and_wait(new_exec(g), new_stream());
  }
  EXPECT_EQ(fetch_int(x), 2);
  EXPECT_EQ(fetch_int(x + 1), 1);
  EXPECT_EQ(fetch_int(x + 2), 3);
  EXPECT_TRUE(errors().empty());
}

CUDA_TEST(Conditional, SwitchExecutesTheBodyOfThatNumberOrNone) {
  int* x = device_ints(3);
  for (const unsigned value : {0u, 2u, 3u, 2u}) {
    const cudaGraph_t g = new_graph();
    const Handle h = with_default(g, value);
    const Conditional c = conditional(g, {}, h, cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 3; ++i) add_node(c.bodies[size_t(i)], {}, x + i, 1);
    launch_and_wait(new_exec(g), new_stream());
  }
  EXPECT_EQ(fetch_int(x), 1);
  EXPECT_EQ(fetch_int(x + 1), 0);
  EXPECT_EQ(fetch_int(x + 2), 2);
}

// More iterations than a launch reserves numbers for.
CUDA_TEST(Conditional, WhileExecutesItsBodyAsLongAsTheValueIsNotZero) {
  constexpr int kTimes = 200;
  int* x = device_ints(3);
  const cudaGraph_t g = new_graph();
  const Handle h = with_default(g, 1);
  const auto begun = kernel_node(g, {}, kernels::store_function(), x, 0ll, kTimes);
  const Conditional c = conditional(g, {begun}, h, cudaGraphCondTypeWhile);
  // Two branches, joined by the node that counts down.
  const auto left = add_node(c.bodies[0], {}, x + 1, 1),
             right = add_node(c.bodies[0], {}, x + 2, 2);
  kernel_node(c.bodies[0], {left, right}, kernels::count_down_function(), h, x);
  add_node(g, {c.node}, x + 1, 1000);
  const cudaGraphExec_t e = new_exec(g);
  const cudaStream_t s = new_stream(), other = new_stream();
  launch_and_wait(e, s);
  EXPECT_EQ(fetch_int(x + 1), 1000 + kTimes);
  EXPECT_EQ(fetch_int(x + 2), 2 * kTimes);
  // A launch in another stream is ordered after the first.
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  launch_and_wait(e, other);
  EXPECT_EQ(fetch_int(x + 1), 3 * (1000 + kTimes));
  EXPECT_TRUE(errors().empty());
}

// One execution of the body counts as 2^16 instructions; the limit here is 2000 times that.
CUDA_TEST(Conditional, WhileThatDoesNotEndIsAFinding) {
  quiet();
  int* x = device_ints(1);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 5), cudaGraphCondTypeWhile);
  add_node(c.bodies[0], {}, x, 1);
  const cudaStream_t s = new_stream();
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(new_exec(g), s));
  EXPECT_CUDA(cudaErrorLaunchTimeout, cudaStreamSynchronize(s));
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "time-limit");
  EXPECT_NE(found[0].dump().find("has executed its body 2000 times, and its value is still 5"),
            std::string::npos)
      << found.dump(2);
}

CUDA_TEST(Conditional, BodiesHaveConditionsOfTheirOwn) {
  int* x = device_ints(4);
  const cudaGraph_t g = new_graph();
  const Handle outer = with_default(g, 1), inner = new_handle(g);
  const auto begun = kernel_node(g, {}, kernels::store_function(), x, 0ll, 3);
  const Conditional loop = conditional(g, {begun}, outer, cudaGraphCondTypeWhile);
  const cudaGraph_t body = loop.bodies[0];
  const auto again = kernel_node(body, {}, kernels::store_function(), x, 1ll, 4);
  const auto set = kernel_node(body, {again}, kernels::set_condition_function(), inner, 1u);
  const Conditional nested = conditional(body, {set}, inner, cudaGraphCondTypeWhile);
  const auto added = add_node(nested.bodies[0], {}, x + 2, 1);
  kernel_node(nested.bodies[0], {added}, kernels::count_down_function(), inner, x + 1);
  const auto behind = add_node(body, {nested.node}, x + 2, 100);
  kernel_node(body, {behind}, kernels::count_down_function(), outer, x);
  add_node(g, {loop.node}, x + 2, 1000);
  launch_and_wait(new_exec(g), new_stream());
  EXPECT_EQ(fetch_int(x + 2), 1000 + 3 * (100 + 4));
  EXPECT_TRUE(errors().empty()) << errors().dump(2);
}

CUDA_TEST(Conditional, DefaultsAreAssignedAtEachLaunch) {
  int* x = device_ints(2);
  const cudaGraph_t g = new_graph();
  const Handle h = with_default(g, 1);
  const Conditional c = conditional(g, {}, h, cudaGraphCondTypeIf);
  const auto added = add_node(c.bodies[0], {}, x, 1);
  kernel_node(c.bodies[0], {added}, kernels::set_condition_function(), h, 0u);
  const cudaGraphExec_t e = new_exec(g);
  const cudaStream_t s = new_stream();
  for (int i = 0; i < 3; ++i) launch_and_wait(e, s);
  EXPECT_EQ(fetch_int(x), 3);
  EXPECT_TRUE(errors().empty());
}

CUDA_TEST(Conditional, BodiesMayBeCaptured) {
  int* x = device_ints(1);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  const cudaStream_t s = new_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCaptureToGraph(s, c.bodies[0], nullptr, nullptr, 0,
                                                         cudaStreamCaptureModeRelaxed));
  kernels::store(x, 0, 6, s);
  cudaGraph_t same = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &same));
  EXPECT_EQ(same, c.bodies[0]);
  // Another capture continues that graph: the capture must not ask for one.
  cudaGraphNode_t last = nullptr;
  size_t count = 1;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(c.bodies[0], &last, &count));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCaptureToGraph(s, c.bodies[0], &last, nullptr, 1,
                                                         cudaStreamCaptureModeRelaxed));
  kernels::store(x, 0, 7, s);
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(s, nullptr));
  launch_and_wait(new_exec(g), s);
  EXPECT_EQ(fetch_int(x), 7);
}

CUDA_TEST(Conditional, ExecutableBodiesCanBeChanged) {
  int* x = device_ints(1);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  const auto node = kernel_node(c.bodies[0], {}, kernels::store_function(), x, 0ll, 6);
  const cudaGraphExec_t e = new_exec(g);
  long long at = 0;
  int value = 7;
  void* arguments[] = {&x, &at, &value};
  cudaKernelNodeParams k = {};
  k.func = const_cast<void*>(kernels::store_function());
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = arguments;
  EXPECT_CUDA(cudaSuccess, cudaGraphExecKernelNodeSetParams(e, node, &k));
  launch_and_wait(e, new_stream());
  EXPECT_EQ(fetch_int(x), 7);
}

CUDA_TEST(Conditional, NodesCheckTheirParameters) {
  const cudaGraph_t g = new_graph(), other = new_graph();
  const Handle h = new_handle(g), foreign = new_handle(other);
  Conditional c;
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, h, cudaGraphCondTypeWhile, 2, &c));
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, h, cudaGraphCondTypeIf, 3, &c));
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, h, cudaGraphCondTypeSwitch, 0, &c));
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, foreign, cudaGraphCondTypeIf, 1, &c));
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, 0, cudaGraphCondTypeIf, 1, &c));
  cudaGraphExec_t e = nullptr;
  cudaGraphInstantiateParams params = {};
  EXPECT_NE(cudaGraphInstantiateWithParams(&e, g, &params), cudaSuccess) << "an unused handle";
  EXPECT_EQ(params.result_out, cudaGraphInstantiateConditionalHandleUnused);
  EXPECT_CUDA(cudaSuccess, add_conditional(g, {}, h, cudaGraphCondTypeIf, 1, &c));
  Conditional second;
  EXPECT_CUDA(cudaErrorInvalidValue, add_conditional(g, {}, h, cudaGraphCondTypeIf, 1, &second))
      << "a handle has one node";
  Handle none = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&none, g, 0, 2));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(nullptr, g, 0, 0));
  cudaGetLastError();
}

void CUDART_CB nothing_to_do(void*) {}

CUDA_TEST(Conditional, TheGraphIsNoChildAndNoClone) {
  const cudaGraph_t g = new_graph(), outer = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t node = nullptr;
  EXPECT_NE(cudaGraphClone(&clone, g), cudaSuccess);
  EXPECT_NE(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, g), cudaSuccess);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(c.bodies[0])) << "it is the node's";
  const cudaGraphExec_t e = new_exec(g);
  cudaGraphExec_t second = nullptr;
  EXPECT_NE(cudaGraphInstantiate(&second, g, 0), cudaSuccess);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  const cudaHostNodeParams host = {nothing_to_do, nullptr};
  EXPECT_CUDA(cudaSuccess, cudaGraphAddHostNode(&node, c.bodies[0], nullptr, 0, &host));
  EXPECT_NE(cudaGraphInstantiate(&second, g, 0), cudaSuccess) << "bodies have no host functions";
  cudaGetLastError();
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(Conditional, AValueThatNobodySetIsFound) {
  quiet();
  const cudaGraph_t g = new_graph();
  int* x = device_ints(1);
  const Handle h = new_handle(g);
  const Conditional c = conditional(g, {}, h, cudaGraphCondTypeIf);
  add_node(c.bodies[0], {}, x, 1);
  cudaGraphLaunch(new_exec(g), new_stream());
  cudaDeviceSynchronize();
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "uninitialised");
}

// Expects exactly one finding, with these words.
void expect_race(const char* first, const char* second) {
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u) << found.dump(2);
  EXPECT_EQ(found[0]["kind"], "race");
  for (const char* word : {first, second})
    EXPECT_NE(found[0].dump().find(word), std::string::npos) << word << found.dump(2);
}

CUDA_TEST(Conditional, AValueSetInNoOrderWithTheNodeIsFound) {
  quiet();
  const cudaGraph_t g = new_graph();
  const Handle h = with_default(g, 1);
  kernel_node(g, {}, kernels::set_condition_function(), h, 0u);
  conditional(g, {}, h, cudaGraphCondTypeIf);
  cudaGraphLaunch(new_exec(g), new_stream());
  cudaDeviceSynchronize();
  expect_race("set_condition_kernel", "cudaGraphLaunch");
}

CUDA_TEST(Conditional, ABodyInNoOrderWithANodeIsFound) {
  quiet();
  int* x = device_ints(1);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  kernel_node(c.bodies[0], {}, kernels::store_function(), x, 0ll, 6);
  add_node(g, {}, x, 1);
  cudaGraphLaunch(new_exec(g), new_stream());
  cudaDeviceSynchronize();
  expect_race("store_kernel", "add_kernel");
}

CUDA_TEST(Conditional, BranchesOfABodyInNoOrderAreFound) {
  quiet();
  int* x = device_ints(2);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  const auto first = kernel_node(c.bodies[0], {}, kernels::store_function(), x, 1ll, 6);
  kernel_node(c.bodies[0], {first}, kernels::store_function(), x, 0ll, 6);
  add_node(c.bodies[0], {first}, x, 1);
  cudaGraphLaunch(new_exec(g), new_stream());
  cudaDeviceSynchronize();
  expect_race("store_kernel", "add_kernel");
}

CUDA_TEST(Conditional, ABodyInNoOrderWithAnotherStreamIsFound) {
  quiet();
  int* x = device_ints(1);
  const cudaGraph_t g = new_graph();
  const Conditional c = conditional(g, {}, with_default(g, 1), cudaGraphCondTypeIf);
  add_node(c.bodies[0], {}, x, 1);
  const cudaStream_t a = new_stream(), b = new_stream();
  const cudaGraphExec_t e = new_exec(g);
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, a));
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaEventCreate(&event));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(event, a));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(b, event, 0));
  kernels::store(x, 0, 5, b);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_TRUE(errors().empty()) << "behind the launch";
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, a));
  kernels::store(x, 0, 5, b);
  cudaDeviceSynchronize();
  expect_race("store_kernel", "add_kernel");
}

}  // namespace
}  // namespace lockstep::runtime
