// Graph nodes that allocate and free memory, and conditional nodes.
#include "graph.cuh"

namespace lockstep::streams {
namespace {

// Memory nodes. -----------------------------------------------------------------------------------

// A memory allocation node and its memory.
struct Allocated {
  cudaGraphNode_t node = nullptr;
  int* data = nullptr;
};
Allocated allocate(cudaGraph_t graph, const Nodes& after) {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = kBytes;
  Allocated made;
  cudaGraphAddMemAllocNode(&made.node, graph, after.data(), after.size(), &p);
  made.data = static_cast<int*>(p.dptr);
  return made;
}
cudaGraphNode_t free_node(cudaGraph_t graph, const Nodes& after, void* data) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddMemFreeNode(&node, graph, after.data(), after.size(), data);
  return node;
}

CASE("memory nodes", used_beside_its_allocation, "produce", "produce|cudaGraphAddMemAllocNode") {
  Ints y(0);
  Graph g;
  const auto held = g.kernel({}, hold, spin);
  const Allocated x = allocate(g, {held});
  const auto produced = g.kernel(mistake ? Nodes{} : Nodes{x.node}, produce, x.data, 7, spin / 2);
  const auto consumed = g.kernel({produced, x.node}, consume, x.data, y);
  free_node(g, {consumed}, x.data);
  execute(g);
  want(y.holds(7));
}

CASE("memory nodes", freed_beside_its_reader, "consume_late", "consume_late") {
  Ints y(0);
  Graph g;
  const Allocated x = allocate(g, {});
  const auto produced = g.kernel({x.node}, produce, x.data, 7, 0);
  const auto consumed = g.kernel({produced}, consume_late, x.data, y, spin);
  const auto freed = free_node(g, {mistake ? produced : consumed}, x.data);
  // This allocation may reuse the same physical memory.
  const Allocated other = allocate(g, {freed});
  const auto overwritten = g.kernel({other.node}, produce, other.data, 9, 0);
  free_node(g, {overwritten}, other.data);
  execute(g);
  want(y.holds(7));
}

CASE("memory nodes", filled_beside_its_reader, "consume_late", "cudaGraphAddMemsetNode|fill") {
  Ints y(0);
  Graph g;
  const Allocated x = allocate(g, {});
  const auto produced = g.kernel({x.node}, produce, x.data, 7, 0);
  const auto consumed = g.kernel({produced}, consume_late, x.data, y, spin);
  const auto filled = g.fill({mistake ? produced : consumed}, x.data, 0);
  free_node(g, {filled, consumed}, x.data);
  execute(g);
  want(y.holds(7));
}

CASE("memory nodes", captured_free_in_another_branch, "consume_late", "consume_late") {
  Ints y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event produced, consumed, freed;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  int *x = nullptr, *other = nullptr;
  cudaMallocAsync(&x, kBytes, a);
  produce<<<1, kN, 0, a>>>(x, 7, 0);
  cudaEventRecord(produced, a);
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaEventRecord(consumed, a);
  cudaStreamWaitEvent(b, mistake ? produced : consumed);
  cudaFreeAsync(x, b);
  cudaMallocAsync(&other, kBytes, b);
  produce<<<1, kN, 0, b>>>(other, 9, 0);
  cudaFreeAsync(other, b);
  cudaEventRecord(freed, b);
  cudaStreamWaitEvent(a, freed);
  execute_capture(a);
  want(y.holds(7));
}

CASE("memory nodes", captured_allocation_in_another_branch, "produce", "consume") {
  Ints y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event allocated, produced, consumed;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  int* x = nullptr;
  cudaMallocAsync(&x, kBytes, a);
  cudaEventRecord(allocated, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaStreamWaitEvent(b, mistake ? allocated : produced);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaEventRecord(consumed, b);
  cudaStreamWaitEvent(a, consumed);
  cudaFreeAsync(x, a);
  execute_capture(a);
  want(y.holds(7));
}

// A graph that allocates memory, sets it to 7, and does not free it.
struct Leaves {
  explicit Leaves(long long clocks) {
    Graph g;
    const Allocated x = allocate(g, {});
    g.kernel({x.node}, produce, x.data, 7, clocks);
    data = x.data;
    cudaGraphInstantiate(&executable, g, 0);
  }
  ~Leaves() { cudaGraphExecDestroy(executable); }
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;
  cudaGraphExec_t executable = nullptr;
  int* data = nullptr;
};

CASE("memory nodes", left_behind_and_read_in_another_stream, "produce", "consume") {
  Ints y(0);
  const Leaves g(spin);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaGraphLaunch(g.executable, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(g.data, y);
  cudaDeviceSynchronize();
  cudaFree(g.data);
  want(y.holds(7));
}

CASE("memory nodes", left_behind_and_freed_in_another_stream, "consume_late", "cudaFreeAsync") {
  Ints y(0);
  const Leaves g(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event produced, consumed;
  cudaGraphLaunch(g.executable, a);
  cudaEventRecord(produced, a);
  consume_late<<<1, kN, 0, a>>>(g.data, y, spin);
  cudaEventRecord(consumed, a);
  cudaStreamWaitEvent(b, mistake ? produced : consumed);
  cudaFreeAsync(g.data, b);
  cudaGraphLaunch(g.executable, b);
  cudaDeviceSynchronize();
  cudaFree(g.data);
  want(y.holds(7));
}

// cudaFree of graph memory does not synchronise, as for pool memory.
CASE("memory nodes", cudafree_is_no_wait, "produce", "consume") {
  Ints x(0), y(0);
  const Leaves g(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaGraphLaunch(g.executable, a);
  cudaDeviceSynchronize();
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaFree(g.data);
  if (!mistake) cudaStreamSynchronize(a);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Conditional nodes. ------------------------------------------------------------------------------

using Handle = cudaGraphConditionalHandle;

Handle handle_of(cudaGraph_t graph, unsigned value) {
  Handle made = 0;
  cudaGraphConditionalHandleCreate(&made, graph, value, cudaGraphCondAssignDefault);
  return made;
}

// A conditional node and its last body.
struct Conditional {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = nullptr;
};
Conditional conditional(cudaGraph_t graph, const Nodes& after, Handle handle,
                        cudaGraphConditionalNodeType type, unsigned bodies = 1) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = bodies;
  Conditional made;
  cudaGraphAddNode(&made.node, graph, after.data(), nullptr, after.size(), &p);
  if (p.conditional.phGraph_out != nullptr) made.body = p.conditional.phGraph_out[bodies - 1];
  return made;
}

__global__ void decide(Handle handle, unsigned value, long long clocks) {
  wait_for(clocks);
  if (threadIdx.x == 0) cudaGraphSetConditional(handle, value);
}
// Decrements the count; its conditional node repeats until it is 0.
__global__ void count_down(Handle handle, int* left) {
  if (threadIdx.x != 0) return;
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0);
}

CASE("conditional nodes", reader_beside_the_body, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional c = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  add_kernel(c.body, {}, produce, x, 7, spin);
  g.kernel(mistake ? Nodes{} : Nodes{c.node}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("conditional nodes", body_beside_its_source, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const auto produced = g.kernel({}, produce, x, 7, spin);
  const Conditional c = conditional(g, mistake ? Nodes{} : Nodes{produced}, handle_of(g, 1),
                                    cudaGraphCondTypeSwitch, 2);
  add_kernel(c.body, {}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("conditional nodes", two_nodes_of_a_body, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional c = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  const auto produced = add_kernel(c.body, {}, produce, x, 7, spin);
  add_kernel(c.body, mistake ? Nodes{} : Nodes{produced}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

// Executions of a loop body are ordered; nodes within the body still need edges.
CASE("conditional nodes", two_nodes_of_a_loop, "increment", "increment") {
  Ints x(0), left(3, 1);
  Graph g;
  const Handle again = handle_of(g, 1);
  const Conditional c = conditional(g, {}, again, cudaGraphCondTypeWhile);
  const auto first = add_kernel(c.body, {}, increment, x, spin / 3);
  add_kernel(c.body, mistake ? Nodes{} : Nodes{first}, increment, x, spin / 3);
  add_kernel(c.body, {}, count_down, again, left);
  execute(g);
  want(x.holds(6));
}

CASE("conditional nodes", bodies_of_two_nodes, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional first = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  add_kernel(first.body, {}, produce, x, 7, spin);
  const Conditional second =
      conditional(g, mistake ? Nodes{} : Nodes{first.node}, handle_of(g, 1), cudaGraphCondTypeIf);
  add_kernel(second.body, {}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("conditional nodes", body_within_a_body, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional outer = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  const auto produced = add_kernel(outer.body, {}, produce, x, 7, spin);
  const Conditional inner = conditional(outer.body, mistake ? Nodes{} : Nodes{produced},
                                        handle_of(g, 1), cudaGraphCondTypeIf);
  add_kernel(inner.body, {}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("conditional nodes", value_beside_its_node, "decide", "value|cudaGraph|conditional") {
  Ints x(0), y(0);
  Graph g;
  const Handle handle = handle_of(g, 0);
  const auto decided = g.kernel({}, decide, handle, 1u, spin);
  const Conditional c =
      conditional(g, mistake ? Nodes{} : Nodes{decided}, handle, cudaGraphCondTypeIf);
  add_kernel(c.body, {}, produce, y, 7, 0);
  execute(g);
  want(y.holds(7));
}

CASE("conditional nodes", body_and_another_stream, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional c = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  add_kernel(c.body, {}, produce, x, 7, spin);
  const Executable producer(g);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaGraphLaunch(producer, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

CASE("conditional nodes", captured_body, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const Conditional c = conditional(g, {}, handle_of(g, 1), cudaGraphCondTypeIf);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event begun, produced, consumed;
  cudaStreamBeginCaptureToGraph(a, c.body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(begun, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaStreamWaitEvent(b, mistake ? begun : produced);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaEventRecord(consumed, b);
  cudaStreamWaitEvent(a, consumed);
  cudaGraph_t captured = nullptr;
  want(cudaStreamEndCapture(a, &captured) == cudaSuccess && captured == c.body);
  execute(g);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
