// Parts of an allocation, and memory to which parameters lead (watch.cu).
#include "watch.cuh"

namespace lockstep::streams {
namespace {

WATCH("right", other_half_of_managed_memory) {
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  for (int i = 0; i < kN; ++i) store_now(x + kN + i, 5);
  want(sum_now(x + kN, kN) == 5 * kN);
  cudaDeviceSynchronize();
  want(sum_now(x, kN) == 7 * kN);
}

WATCH("race", last_element_of_the_kernels_half) {
  Managed x(2 * kN);
  Stream a;
  fill_with<<<1, kN, 0, a>>>(x, kN, 7);
  store_now(x + kN - 1, 5);
}

// The kernel's parameter points to a table, and the table to a list of two: no parameter points to
// what the kernel changes.
struct Node {
  Node* next;
  int* words;
};
__global__ void fill_last(Node* const* table, int value) {
  const Node* node = table[-1];
  while (node->next != nullptr) node = node->next;
  node->words[threadIdx.x] = value;
}
template <bool kWaits>
void fill_the_end_of_a_list() {
  Managed words(kN);
  Node **table, *nodes;
  cudaMallocManaged(&table, 2 * sizeof(Node*));
  cudaMallocHost(&nodes, 2 * sizeof(Node));
  nodes[0] = {nodes + 1, nullptr};
  nodes[1] = {nullptr, words};
  table[0] = nodes;
  Stream a;
  fill_last<<<1, kN, 0, a>>>(table + 1, 7);
  if (kWaits) cudaStreamSynchronize(a);
  want(load_now(words + kN - 1) == (kWaits ? 7 : 0));
  cudaStreamSynchronize(a);
  cudaFreeHost(nodes);
  cudaFree(table);
}
WATCH("right", end_of_a_list) { fill_the_end_of_a_list<true>(); }
WATCH("race", end_of_a_list_early) { fill_the_end_of_a_list<false>(); }

// A list of more allocations than are followed: the kernel has all of them nevertheless.
WATCH("right", list_of_many_allocations) {
  std::vector<Node*> nodes(200);
  Managed words(kN);
  for (size_t i = nodes.size(); i-- > 0;) {
    cudaMallocManaged(&nodes[i], sizeof(Node));
    *nodes[i] = {i + 1 < nodes.size() ? nodes[i + 1] : nullptr, words};
  }
  Node** table;
  cudaMallocManaged(&table, sizeof(Node*));
  table[0] = nodes[0];
  Stream a;
  fill_last<<<1, kN, 0, a>>>(table + 1, 7);
  for (Node* const node : nodes) want(node->words == words);
  cudaStreamSynchronize(a);
  want(sum_now(words, kN) == 7 * kN);
  for (Node* const node : nodes) cudaFree(node);
  cudaFree(table);
}

WATCH("right", other_rows_of_a_copy) {
  Ints x(7);
  Pinned y(0);
  Stream a;
  cudaMemcpyAsync(y, x, kBytes / 2, cudaMemcpyDeviceToHost, a);
  for (int i = kN / 2; i < kN; ++i) store_now(y + i, 5);
  cudaStreamSynchronize(a);
  want(load_now(y) == 7 && load_now(y + kN - 1) == 5);
}

WATCH("right", source_read_while_it_is_copied) {
  Ints x(0);
  Pinned source(7);
  Stream a;
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
  want(load_now(source) == 7 && load_now(source + kN - 1) == 7 + kN - 1);
  want(x.holds(7));
}

// Larger than the limit for checks of single accesses.
WATCH("right", megabytes_beside_a_kernel) {
  constexpr int kMany = 4 << 20;
  Managed x(kMany);
  Stream a;
  for (int round = 1; round <= 3; ++round) {
    fill_with<<<1, kN, 0, a>>>(x, kN, round);
    for (int i = kN; i < kMany; i += 64) store_now(x + i, round);
    cudaDeviceSynchronize();
    want(load_now(x) == round && load_now(x + kMany - 64) == round);
  }
}

}  // namespace
}  // namespace lockstep::streams
