// Graphs built from nodes and edges, and launches of graphs next to other work.
#include "graph.cuh"

namespace lockstep::streams {
namespace {

CASE("graphs", kernels_without_an_edge, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const auto produced = g.kernel({}, produce, x, 7, spin);
  g.kernel(mistake ? Nodes{} : Nodes{produced}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", kernel_and_copy_without_an_edge, "produce", "cudaMemcpy|copy|cudaGraph") {
  Ints x(0);
  Pinned y(0);
  Graph g;
  const auto produced = g.kernel({}, produce, x, 7, spin);
  g.copy(mistake ? Nodes{} : Nodes{produced}, y, x, cudaMemcpyDeviceToHost);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", copy_and_kernel_without_an_edge, "cudaMemcpy|copy|cudaGraph", "consume") {
  Ints x(0), y(0);
  Pinned source(7);
  Graph g;
  const auto held = g.kernel({}, hold, spin);
  const auto copied = g.copy({held}, x, source, cudaMemcpyHostToDevice);
  g.kernel(mistake ? Nodes{} : Nodes{copied}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", fill_and_kernel_without_an_edge, "cudaMemset|fill|cudaGraph", "increment") {
  Ints x(7);
  Graph g;
  const auto held = g.kernel({}, hold, spin);
  const auto filled = g.fill({held}, x, 0);
  g.kernel(mistake ? Nodes{} : Nodes{filled}, increment, x, 0);
  execute(g);
  want(x.fetch() == std::vector<int>(kN, 1));
}

CASE("graphs", two_copies_without_an_edge, "cudaMemcpy|copy|cudaGraph",
     "cudaMemcpy|copy|cudaGraph") {
  Ints source(7), x(0), y(0);
  Graph g;
  const auto held = g.kernel({}, hold, spin);
  const auto first = g.copy({held}, x, source, cudaMemcpyDeviceToDevice);
  g.copy(mistake ? Nodes{} : Nodes{first}, y, x, cudaMemcpyDeviceToDevice);
  execute(g);
  want(y.holds(7));
}

// A diamond that lacks one edge.
__global__ void add_two(const int* x, const int* y, int* z) {
  z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}
CASE("graphs", diamond_without_an_edge, "produce", "add_two") {
  Ints source(0), x(0), y(0), z(0);
  Graph g;
  const auto top = g.kernel({}, produce, source, 7, 0);
  const auto left = g.kernel({top}, consume, source, x);
  const auto other = g.kernel({top}, produce, y, 7, spin);
  g.kernel(mistake ? Nodes{left} : Nodes{left, other}, add_two, x, y, z);
  execute(g);
  const std::vector<int> sums = z.fetch();
  for (int i = 0; i < int(sums.size()); ++i) want(sums[i] == 14 + 2 * i);
}

// An empty node joins its predecessors.
CASE("graphs", empty_node_without_an_edge, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Graph g;
  const auto first = g.kernel({}, produce, x, 7, spin);
  const auto second = g.kernel({}, produce, z, 7, 0);
  const auto joined = g.empty(mistake ? Nodes{second} : Nodes{first, second});
  g.kernel({joined}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

void nothing_at_all(void*) {}
CASE("graphs", host_node_without_an_edge, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const auto produced = g.kernel({}, produce, x, 7, spin);
  const auto called = g.host(mistake ? Nodes{} : Nodes{produced}, nothing_at_all, nullptr);
  g.kernel({called}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

// A child graph is one node of its parent.
CASE("graphs", child_graph_without_an_edge, "produce", "consume") {
  Ints x(0), y(0);
  Graph inner, g;
  inner.kernel({}, produce, x, 7, spin);
  const auto child = g.child({}, inner);
  g.kernel(mistake ? Nodes{} : Nodes{child}, consume, x, y);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", within_a_child_graph, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Graph inner, g;
  const auto produced = inner.kernel({}, produce, x, 7, spin);
  inner.kernel(mistake ? Nodes{} : Nodes{produced}, consume, x, y);
  const auto before = g.kernel({}, produce, z, 7, 0);
  g.child({before}, inner);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", two_child_graphs, "produce", "consume") {
  Ints x(0), y(0);
  Graph first, second, g;
  first.kernel({}, produce, x, 7, spin);
  second.kernel({}, consume, x, y);
  const auto done = g.child({}, first);
  g.child(mistake ? Nodes{} : Nodes{done}, second);
  execute(g);
  want(y.holds(7));
}

CASE("graphs", edge_removed, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  const auto produced = g.kernel({}, produce, x, 7, spin);
  const auto consumed = g.kernel({produced}, consume, x, y);
  if (mistake) cudaGraphRemoveDependencies(g, &produced, &consumed, nullptr, 1);
  execute(g);
  want(y.holds(7));
}

// Launches. ---------------------------------------------------------------------------------------

// Launches of one executable graph are ordered, in any streams; launches of two are not.
CASE("graph launches", two_executables_of_one_graph, "increment", "increment") {
  Ints x(0);
  Graph g;
  g.kernel({}, increment, x, spin);
  const Executable first(g), second(g);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaGraphLaunch(first, a);
  cudaGraphLaunch(mistake ? second : first, b);
  want(x.holds(2));
}

CASE("graph launches", two_graphs_in_two_streams, "produce", "consume") {
  Ints x(0), y(0);
  Graph first, second;
  first.kernel({}, produce, x, 7, spin);
  second.kernel({}, consume, x, y);
  const Executable producer(first), consumer(second);
  Stream a, b;
  cudaGraphLaunch(producer, a);
  cudaGraphLaunch(consumer, mistake ? b : a);
  want(y.holds(7));
}

CASE("graph launches", graph_then_kernel, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  g.kernel({}, produce, x, 7, spin);
  const Executable producer(g);
  Stream a, b;
  Event produced;
  cudaGraphLaunch(producer, a);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("graph launches", kernel_then_graph, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  g.kernel({}, consume, x, y);
  const Executable consumer(g);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaGraphLaunch(consumer, mistake ? b : a);
  want(y.holds(7));
}

CASE("graph launches", graph_then_copy, "produce", "cudaMemcpyAsync") {
  Ints x(0);
  Pinned y(0);
  Graph g;
  g.kernel({}, produce, x, 7, spin);
  const Executable producer(g);
  Stream a, b;
  cudaGraphLaunch(producer, a);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, mistake ? b : a);
  want(y.holds(7));
}

// A graph launch is ordered with the legacy stream as its launch stream is.
CASE("graph launches", graph_and_legacy_stream, "produce", "consume") {
  Ints x(0), y(0);
  Graph g;
  g.kernel({}, produce, x, 7, spin);
  const Executable producer(g);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  cudaGraphLaunch(producer, a);
  consume<<<1, kN>>>(x, y);
  want(y.holds(7));
}

// The next operation of the stream waits for all branches of the graph, joined or not.
CASE("graph launches", branch_that_nothing_joins, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Graph g;
  g.kernel({}, produce, x, 7, spin);
  g.kernel({}, produce, z, 7, 0);
  const Executable producer(g);
  Stream a, b;
  cudaGraphLaunch(producer, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// A node records an event that another stream waits for.
CASE("graph launches", event_node_without_an_edge, "produce", "consume") {
  Ints x(0), y(0);
  Event produced;
  Graph g;
  const auto node = g.kernel({}, produce, x, 7, spin);
  cudaGraphNode_t record = nullptr;
  cudaGraphAddEventRecordNode(&record, g, &node, mistake ? 0 : 1, produced);
  const Executable producer(g);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaGraphLaunch(producer, a);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// A node waits for an event that another stream records.
CASE("graph launches", node_that_waits_without_an_edge, "produce", "consume") {
  Ints x(0), y(0);
  Event produced;
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaEventRecord(produced, a);
  Graph g;
  cudaGraphNode_t waited = nullptr;
  cudaGraphAddEventWaitNode(&waited, g, nullptr, 0, produced);
  g.kernel(mistake ? Nodes{} : Nodes{waited}, consume, x, y);
  const Executable consumer(g);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  cudaGraphLaunch(consumer, b);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
