// Graphs and stream capture. Every test holds on silicon too.
#include <thread>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/kernels.h"

namespace lockstep::runtime {
namespace {

// A zeroed device array of ints.
struct Ints {
  explicit Ints(int n) : count(n) {
    EXPECT_CUDA(cudaSuccess,
                cudaMalloc(reinterpret_cast<void**>(&at), sizeof(int) * static_cast<size_t>(n)));
    EXPECT_CUDA(cudaSuccess, cudaMemset(at, 0, sizeof(int) * static_cast<size_t>(n)));
  }
  int operator[](int i) const {
    int value = -1;
    EXPECT_CUDA(cudaSuccess, cudaMemcpy(&value, at + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  int* at = nullptr;
  int count;
};

cudaStream_t make_stream() {
  cudaStream_t s = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamCreate(&s));
  return s;
}

cudaGraph_t make_graph() {
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  return g;
}

cudaGraphExec_t make_exec(cudaGraph_t g) {
  cudaGraphExec_t e = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiate(&e, g, 0));
  return e;
}

void launch(cudaGraphExec_t e, cudaStream_t s) {
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
}

// A kernel node that stores `value` to p[i].
struct Store {
  int* p;
  long long i;
  int value;
  void* arguments[3] = {&p, &i, &value};
  cudaKernelNodeParams params() {
    cudaKernelNodeParams k = {};
    k.func = const_cast<void*>(kernels::store_function());
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = arguments;
    return k;
  }
};

cudaGraphNode_t add_store(cudaGraph_t g, int* p, int i, int value,
                          cudaGraphNode_t after = nullptr) {
  Store s{p, i, value};
  const cudaKernelNodeParams params = s.params();
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaSuccess,
              cudaGraphAddKernelNode(&node, g, &after, after == nullptr ? 0 : 1, &params));
  return node;
}

// Recorded on an H100, like the two tests below.
CUDA_TEST(Graph, RootsAreGivenLatestFirst) {
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr, roots[3] = {};
  for (cudaGraphNode_t* const node : {&first, &second, &third})
    ASSERT_CUDA(cudaSuccess, cudaGraphAddEmptyNode(node, g, nullptr, 0));
  size_t count = 3;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetRootNodes(g, roots, &count));
  EXPECT_EQ(roots[0], third);
  EXPECT_EQ(roots[1], second);
  EXPECT_EQ(roots[2], first);
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(GraphLaunch, ReturnsWhenPageableMemoryIsWritten) {
  Ints x(4);
  const cudaStream_t s = make_stream();
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  int host = 0;
  const cudaGraphNode_t store = add_store(g, x.at, 1, 7);
  cudaGraphNode_t copy = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddMemcpyNode1D(&copy, g, &store, 1, &host, x.at + 1, 4,
                                                    cudaMemcpyDeviceToHost));
  const cudaGraphExec_t e = make_exec(g);
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  EXPECT_EQ(host, 7);
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(GraphLaunch, HasReadPageableMemoryWhenItReturns) {
  Ints x(4);
  const cudaStream_t s = make_stream();
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  int host = 7;
  cudaGraphNode_t copy = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddMemcpyNode1D(&copy, g, nullptr, 0, x.at, &host, 4,
                                                    cudaMemcpyHostToDevice));
  const cudaGraphExec_t e = make_exec(g);
  for (const int value : {7, 8}) {
    host = value;
    EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
    host = 0;
    EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
    EXPECT_EQ(x[0], value);
  }
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(GraphLaunch, CopiesOnWhatItHasWrittenToPageableMemory) {
  Ints x(4);
  const cudaStream_t s = make_stream();
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  int host = 3;
  const cudaGraphNode_t store = add_store(g, x.at, 1, 7);
  cudaGraphNode_t out = nullptr, in = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddMemcpyNode1D(&out, g, &store, 1, &host, x.at + 1, 4,
                                                    cudaMemcpyDeviceToHost));
  ASSERT_CUDA(cudaSuccess,
              cudaGraphAddMemcpyNode1D(&in, g, &out, 1, x.at, &host, 4, cudaMemcpyHostToDevice));
  const cudaGraphExec_t e = make_exec(g);
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
  EXPECT_EQ(x[0], 7);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(Capture, KeepsWorkInsteadOfDoingIt) {
  Ints x(4);
  const cudaStream_t s = make_stream();
  int host = 0;
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureStatus status;
  EXPECT_CUDA(cudaSuccess, cudaStreamIsCapturing(s, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  kernels::store(x.at, 1, 7, s);
  EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(x.at, 1, 4, s));
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&host, x.at + 1, 4, cudaMemcpyDeviceToHost, s));
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  EXPECT_EQ(x[1], 0) << "nothing has run";
  size_t nodes = 0, roots = 0, edges = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(g, nullptr, &nodes));
  EXPECT_CUDA(cudaSuccess, cudaGraphGetRootNodes(g, nullptr, &roots));
  EXPECT_CUDA(cudaSuccess, cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(roots, 1u);
  EXPECT_EQ(edges, 2u);
  const cudaGraphExec_t e = make_exec(g);
  launch(e, s);
  EXPECT_EQ(host, 7);
  EXPECT_EQ(x[0], 0x01010101);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
}

CUDA_TEST(Capture, FollowsEventsIntoOtherStreamsAndBack) {
  Ints x(4);
  const cudaStream_t a = make_stream(), b = make_stream();
  cudaEvent_t fork, join;
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&fork));
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&join));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  kernels::store(x.at, 0, 1, a);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(fork, a));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(b, fork, 0));
  kernels::store(x.at, 1, 2, b);
  kernels::store(x.at, 2, 3, a);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(join, b));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(a, join, 0));
  kernels::store(x.at, 3, 4, a);
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(a, &g));
  size_t edges = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 4u) << "a diamond";
  launch(make_exec(g), a);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(x[i], i + 1);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaEventQuery(fork))
      << "the capture it was recorded in has ended";
}

// The results of an H100 with CUDA 13.0.
CUDA_TEST(Capture, ForbidsWaitsByItsModeAndForTheDeviceAlways) {
  const auto answers = [](cudaStreamCaptureMode mode, bool of_another_thread, auto call) {
    cudaStream_t s, other;
    cudaStreamCreate(&s);
    cudaStreamCreate(&other);
    EXPECT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, mode));
    cudaError_t answer = cudaErrorUnknown;
    if (of_another_thread) {
      std::thread([&] { answer = call(other); }).join();
    } else {
      answer = call(other);
    }
    cudaGraph_t g = nullptr;
    EXPECT_CUDA(answer == cudaSuccess ? cudaSuccess : cudaErrorStreamCaptureInvalidated,
                cudaStreamEndCapture(s, &g));
    cudaGetLastError();
    cudaStreamDestroy(s);
    cudaStreamDestroy(other);
    return answer;
  };
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    for (const bool another : {false, true}) {
      const bool forbidden = mode == cudaStreamCaptureModeGlobal ||
                             (mode == cudaStreamCaptureModeThreadLocal && !another);
      const cudaError_t expected = forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
      EXPECT_EQ(answers(mode, another, [](auto o) { return cudaStreamSynchronize(o); }), expected);
      EXPECT_EQ(answers(mode, another, [](auto o) { return cudaStreamQuery(o); }), expected);
      EXPECT_EQ(answers(mode, another, [](auto) { return cudaDeviceSynchronize(); }),
                cudaErrorStreamCaptureUnsupported);
    }
  }
}

CUDA_TEST(Capture, MustBeJoined) {
  Ints x(4);
  const cudaStream_t a = make_stream(), b = make_stream();
  cudaEvent_t fork;
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&fork));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  kernels::store(x.at, 0, 1, a);
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(fork, a));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(b, fork, 0));
  kernels::store(x.at, 1, 2, b);
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(a, &g));
  EXPECT_EQ(g, nullptr);
}

// Captured nodes are added after the named nodes; the program keeps ownership of the graph.
CUDA_TEST(Capture, ContinuesAGraphOfTheProgram) {
  Ints x(2);
  const cudaStream_t s = make_stream();
  const cudaGraph_t own = make_graph();
  const cudaGraphNode_t first = add_store(own, x.at, 0, 1);
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCaptureToGraph(s, own, &first, nullptr, 1,
                                                         cudaStreamCaptureModeRelaxed));
  kernels::store(x.at, 0, 2, s);
  kernels::store(x.at, 1, 3, s);
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  EXPECT_EQ(g, own);
  size_t nodes = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(own, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
  launch(make_exec(own), s);
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 3);
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(own));
}

CUDA_TEST(Capture, ThatFailsTakesTheProgramsGraphAway) {
  Ints x(2);
  const cudaStream_t s = make_stream();
  const cudaGraph_t own = make_graph();
  add_store(own, x.at, 0, 1);
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCaptureToGraph(s, own, nullptr, nullptr, 0,
                                                         cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
  EXPECT_EQ(g, nullptr);
  size_t nodes = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphGetNodes(own, nullptr, &nodes));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphDestroy(own));
}

CUDA_TEST(Capture, MustBeEndedWhereItWasBegun) {
  const cudaStream_t a = make_stream(), b = make_stream();
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamEndCapture(a, &g));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamEndCapture(b, &g));
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(a, &g));
  EXPECT_NE(g, nullptr);
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
}

CUDA_TEST(Capture, WaitingForTheStreamSpoilsIt) {
  const cudaStream_t s = make_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
  cudaStreamCaptureStatus status;
  EXPECT_CUDA(cudaSuccess, cudaStreamIsCapturing(s, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
  EXPECT_EQ(g, nullptr);
  EXPECT_CUDA(cudaSuccess, cudaStreamSynchronize(s));
}

CUDA_TEST(Capture, ForbidsCudaMallocInItsMode) {
  const cudaStream_t s = make_stream();
  void* p = nullptr;
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaSuccess, cudaMalloc(&p, 4));
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaMalloc(&p, 4));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
}

CUDA_TEST(Capture, TheLegacyStreamMayNotBeUsed) {
  Ints x(1);
  const cudaStream_t s = make_stream();
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cudaMemsetAsync(x.at, 0, 4, nullptr));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
}

// "Only supported by cudaGraphInstantiateWithParams" (cudaGraphInstantiateFlagUpload).
CUDA_TEST(Graph, OnlyInstantiateWithParamsUploads) {
  cudaGraph_t g = nullptr;
  cudaGraphExec_t e = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphCreate(&g, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagUpload));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cudaGraphInstantiateWithFlags(&e, g, cudaGraphInstantiateFlagUpload));
  cudaGraphInstantiateParams params = {};
  params.flags = cudaGraphInstantiateFlagUpload;
  params.uploadStream = make_stream();
  EXPECT_CUDA(cudaSuccess, cudaGraphInstantiateWithParams(&e, g, &params));
}

// "The blocking stream capture is not invalidated" (cudaStreamIsCapturing).
CUDA_TEST(Capture, QueriesOfTheLegacyStreamLeaveItValid) {
  const cudaStream_t s = make_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureStatus status;
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &status));
  EXPECT_CUDA(
      cudaErrorStreamCaptureImplicit,
      cudaStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_CUDA(cudaSuccess, cudaStreamIsCapturing(s, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
}

// cudaStreamGetCaptureInfo returns the data of each dependency: a plain edge. cuda.bindings reads
// it.
CUDA_TEST(Capture, EachDependencyHasTheDataOfItsEdge) {
  Ints x(1);
  const cudaStream_t s = make_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(x.at, 0, 4, s));
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  size_t count = 0;
  EXPECT_CUDA(cudaSuccess,
              cudaStreamGetCaptureInfo(s, &status, nullptr, nullptr, &nodes, &data, &count));
  ASSERT_EQ(count, 1u);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data[0].type, cudaGraphDependencyTypeDefault);
  EXPECT_EQ(data[0].from_port, 0);
  EXPECT_EQ(data[0].to_port, 0);
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
}

// Begins a capture of `s` that `other` joins, and fills x there.
void capture_in_two(cudaStream_t s, cudaStream_t other, const Ints& x) {
  cudaEvent_t begun = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaSuccess, cudaEventRecord(begun, s));
  EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(other, begun));
  EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(x.at, 0, 4, other));
}

// "Nodes that are removed from the dependency set via this API do not result in
// cudaErrorStreamCaptureUnjoined" (cudaStreamUpdateCaptureDependencies).
CUDA_TEST(Capture, WhatIsTakenFromTheDependenciesNeedNotBeJoined) {
  for (const bool taken : {true, false}) {
    Ints x(1);
    const cudaStream_t s = make_stream(), other = make_stream();
    cudaEvent_t done = nullptr;
    ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    capture_in_two(s, other, x);
    if (taken) {
      EXPECT_CUDA(cudaSuccess, cudaEventRecord(done, other));
      EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, done));
      EXPECT_CUDA(cudaSuccess, cudaStreamUpdateCaptureDependencies(
                                   s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    }
    cudaGraph_t g = nullptr;
    EXPECT_CUDA(taken ? cudaSuccess : cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
  }
}

CUDA_TEST(Capture, AStreamThatWasJoinedMayBeDestroyed) {
  for (const bool joined : {true, false}) {
    Ints x(1);
    const cudaStream_t s = make_stream(), other = make_stream();
    cudaEvent_t done = nullptr;
    ASSERT_CUDA(cudaSuccess, cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    capture_in_two(s, other, x);
    EXPECT_CUDA(cudaSuccess, cudaEventRecord(done, other));
    if (joined) {
      EXPECT_CUDA(cudaSuccess, cudaStreamWaitEvent(s, done));
    }
    EXPECT_CUDA(cudaSuccess, cudaStreamDestroy(other));
    cudaGraph_t g = nullptr;
    EXPECT_CUDA(joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
  }
}

CUDA_TEST(Capture, AnEventFromOutsideIsIsolated) {
  const cudaStream_t s = make_stream(), other = make_stream();
  cudaEvent_t event;
  ASSERT_CUDA(cudaSuccess, cudaEventCreate(&event));
  ASSERT_CUDA(cudaSuccess, cudaEventRecord(event, other));
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, event, 0));
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
}

CUDA_TEST(Capture, AllocatesInTheGraph) {
  const cudaStream_t s = make_stream();
  int *p = nullptr, host = 0;
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  ASSERT_CUDA(cudaSuccess, cudaMallocAsync(reinterpret_cast<void**>(&p), 64, s));
  kernels::store(p, 3, 9, s);
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(&host, p + 3, 4, cudaMemcpyDeviceToHost, s));
  EXPECT_CUDA(cudaSuccess, cudaFreeAsync(p, s));
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  const cudaGraphExec_t e = make_exec(g);
  for (int i = 0; i < 3; ++i) {
    host = 0;
    launch(e, s);
    EXPECT_EQ(host, 9);
  }
}

CUDA_TEST(Graph, RunsInTheOrderOfItsDependencies) {
  Ints x(2);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph();
  // The nodes are added in reverse order and connected afterwards.
  const cudaGraphNode_t last = add_store(g, x.at, 0, 3), first = add_store(g, x.at, 0, 1),
                        middle = add_store(g, x.at, 0, 2);
  const cudaGraphNode_t from[] = {first, middle}, to[] = {middle, last};
  EXPECT_CUDA(cudaSuccess, cudaGraphAddDependencies(g, from, to, nullptr, 2));
  launch(make_exec(g), s);
  EXPECT_EQ(x[0], 3);
  EXPECT_CUDA(cudaSuccess, cudaGraphRemoveDependencies(g, from, to, nullptr, 2));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphRemoveDependencies(g, from, to, nullptr, 1));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddDependencies(g, from, from, nullptr, 1))
      << "of itself";
  size_t count = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeGetDependencies(last, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroyNode(last));
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(g, nullptr, &count));
  EXPECT_EQ(count, 2u);
}

CUDA_TEST(Graph, NodesReturnTheirParameters) {
  Ints x(8);
  const cudaGraph_t g = make_graph();
  const cudaGraphNode_t kernel = add_store(g, x.at, 5, 42);
  cudaKernelNodeParams k = {};
  EXPECT_CUDA(cudaSuccess, cudaGraphKernelNodeGetParams(kernel, &k));
  ASSERT_NE(k.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<int**>(k.kernelParams[0]), x.at);
  EXPECT_EQ(*static_cast<long long*>(k.kernelParams[1]), 5);
  EXPECT_EQ(*static_cast<int*>(k.kernelParams[2]), 42);
  EXPECT_EQ(k.gridDim.x, 1u);
  cudaGraphNodeType type;
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeGetType(kernel, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  cudaMemsetParams set = {}, got = {};
  set.dst = x.at;
  set.elementSize = 2;
  set.width = 4;
  set.height = 1;
  set.value = 0x1234;
  cudaGraphNode_t fill = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &set));
  EXPECT_CUDA(cudaSuccess, cudaGraphMemsetNodeGetParams(fill, &got));
  EXPECT_EQ(got.value, 0x1234u);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(kernel, &got));
  launch(make_exec(g), make_stream());
  EXPECT_EQ(x[0], 0x12341234);
  EXPECT_EQ(x[1], 0x12341234);
  EXPECT_EQ(x[2], 0);
  EXPECT_EQ(x[5], 42);
}

CUDA_TEST(Graph, RefusesNodesThatCannotBe) {
  Ints x(8);
  const cudaGraph_t g = make_graph(), other = make_graph();
  cudaGraphNode_t node = nullptr;
  cudaMemsetParams set = {};
  set.dst = x.at;
  set.elementSize = 3;
  set.width = set.height = 1;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, g, nullptr, 0, &set));
  const cudaGraphNode_t foreign = add_store(other, x.at, 0, 0);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, g, &foreign, 1))
      << "a node of another graph";
  cudaHostNodeParams host = {};
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, g, nullptr, 0, &host));
  Store store{x.at, 0, 0};
  cudaKernelNodeParams k = store.params();
  k.blockDim = dim3(4096);
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, g, nullptr, 0, &k));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphCreate(nullptr, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0));
}

CUDA_TEST(Graph, ACycleCannotBeInstantiated) {
  const cudaGraph_t g = make_graph();
  cudaGraphNode_t a = nullptr, b = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddEmptyNode(&a, g, nullptr, 0));
  ASSERT_CUDA(cudaSuccess, cudaGraphAddEmptyNode(&b, g, &a, 1));
  EXPECT_CUDA(cudaSuccess, cudaGraphAddDependencies(g, &b, &a, nullptr, 1));
  cudaGraphExec_t e = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cudaGraphInstantiate(&e, g, 0));
}

CUDA_TEST(Graph, ClonesAreIndependent) {
  Ints x(2);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph();
  const cudaGraphNode_t node = add_store(g, x.at, 0, 1);
  cudaGraph_t clone = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphClone(&clone, g));
  cudaGraphNode_t twin = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphNodeFindInClone(&twin, node, clone));
  Store store{x.at, 1, 2};
  const cudaKernelNodeParams k = store.params();
  EXPECT_CUDA(cudaSuccess, cudaGraphKernelNodeSetParams(twin, &k));
  launch(make_exec(clone), s);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 2);
  launch(make_exec(g), s);
  EXPECT_EQ(x[0], 1);
}

CUDA_TEST(Graph, MayHoldAnother) {
  Ints x(2);
  const cudaGraph_t inner = make_graph(), outer = make_graph();
  add_store(inner, x.at, 0, 1);
  cudaGraphNode_t child = nullptr, after = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  add_store(inner, x.at, 1, 5);  // the child is a copy
  after = add_store(outer, x.at, 0, 2, child);
  EXPECT_NE(after, nullptr);
  cudaGraph_t own = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaGraphChildGraphNodeGetGraph(child, &own));
  size_t count = 0;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(own, nullptr, &count));
  EXPECT_EQ(count, 1u);
  launch(make_exec(outer), make_stream());
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 0);
}

void CUDART_CB count_up(void* counter) { ++*static_cast<int*>(counter); }

CUDA_TEST(Graph, RunsHostFunctions) {
  const cudaGraph_t g = make_graph();
  int count = 0;
  cudaHostNodeParams host = {count_up, &count};
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddHostNode(&node, g, nullptr, 0, &host));
  const cudaGraphExec_t e = make_exec(g);
  const cudaStream_t s = make_stream();
  for (int i = 0; i < 3; ++i) launch(e, s);
  EXPECT_EQ(count, 3);
}

CUDA_TEST(GraphExec, KeepsWhatItWasMadeFrom) {
  Ints x(3);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph();
  const cudaGraphNode_t node = add_store(g, x.at, 0, 1);
  const cudaGraphExec_t e = make_exec(g);
  Store store{x.at, 1, 2};
  const cudaKernelNodeParams k = store.params();
  EXPECT_CUDA(cudaSuccess, cudaGraphKernelNodeSetParams(node, &k));
  launch(e, s);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 0);
  store.i = 2;
  EXPECT_CUDA(cudaSuccess, cudaGraphExecKernelNodeSetParams(e, node, &k));
  launch(e, s);
  EXPECT_EQ(x[2], 2);
  EXPECT_CUDA(cudaSuccess, cudaGraphDestroy(g));
  launch(e, s);
  EXPECT_CUDA(cudaSuccess, cudaGraphExecDestroy(e));
}

CUDA_TEST(GraphExec, NodesCanBeSwitchedOff) {
  Ints x(2);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph();
  const cudaGraphNode_t first = add_store(g, x.at, 0, 1);
  add_store(g, x.at, 1, 1);
  const cudaGraphExec_t e = make_exec(g);
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeSetEnabled(e, first, 0));
  unsigned enabled = 9;
  EXPECT_CUDA(cudaSuccess, cudaGraphNodeGetEnabled(e, first, &enabled));
  EXPECT_EQ(enabled, 0u);
  launch(e, s);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 1);
}

CUDA_TEST(GraphExec, IsUpdatedByAGraphOfTheSameShape) {
  Ints x(4);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph(), same = make_graph(), longer = make_graph(),
                    other = make_graph();
  add_store(g, x.at, 0, 1);
  add_store(same, x.at, 1, 2);
  add_store(longer, x.at, 2, 3, add_store(longer, x.at, 2, 2));
  cudaGraphNode_t empty = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddEmptyNode(&empty, other, nullptr, 0));
  const cudaGraphExec_t e = make_exec(g);
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_CUDA(cudaSuccess, cudaGraphExecUpdate(e, same, &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  launch(e, s);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 2);
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(e, longer, &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(e, other, &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_CUDA(cudaErrorGraphExecUpdateFailure, cudaGetLastError());
}

CUDA_TEST(GraphExec, ShowsAKernelsErrorAtTheNextCall) {
  Ints x(1);
  const cudaStream_t s = make_stream();
  const cudaGraph_t g = make_graph();
  cudaKernelNodeParams k = {};
  Store store{nullptr, 0, 1};
  k = store.params();
  cudaGraphNode_t node = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaGraphAddKernelNode(&node, g, nullptr, 0, &k));
  const cudaGraphExec_t e = make_exec(g);
  EXPECT_CUDA(cudaSuccess, cudaGraphLaunch(e, s));
  EXPECT_CUDA(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
}

CUDA_TEST(Capture, ACopyOfNothingAddsNoNode) {
  Ints p(2);
  cudaStream_t s = make_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaSuccess, cudaMemcpyAsync(p.at, p.at + 1, 0, cudaMemcpyDeviceToDevice, s));
  EXPECT_CUDA(cudaSuccess, cudaMemsetAsync(p.at, 0, 0, s));
  cudaGraph_t g = nullptr;
  ASSERT_CUDA(cudaSuccess, cudaStreamEndCapture(s, &g));
  size_t nodes = 1;
  EXPECT_CUDA(cudaSuccess, cudaGraphGetNodes(g, nullptr, &nodes));
  EXPECT_EQ(nodes, 0);
}

CUDA_TEST(Capture, AWrongLaunchIntoTheDefaultStreamIsAnImplicitDependence) {
  Ints p(1);
  Store store{p.at, 0, 7};
  cudaStream_t s = make_stream();
  ASSERT_CUDA(cudaSuccess, cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit,
              cudaLaunchKernel(kernels::store_function(), 1, 2000, store.arguments, 0, nullptr));
  cudaGraph_t g = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
}

}  // namespace
}  // namespace lockstep::runtime
