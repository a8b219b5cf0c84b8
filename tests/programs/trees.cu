// Binary search trees in managed memory: the host builds them, the device searches and changes
// them. Nodes have padding and hold a tagged union.
#include "program.h"

namespace trees {

struct Node {
  Node *left, *right;
  short key;
  char kind;  // 0: a count, 1: a sum
  union {
    double sum;
    struct {
      int count, last;
    } hits;
  } value;
};

__global__ void visit(Node* root, const short* keys, int n, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Node* node = root;
  while (mistake == 1 ? node->key != keys[i] : node && node->key != keys[i])
    node = keys[i] < node->key ? node->left : node->right;
  if (!node) return;
  if (node->kind == 0) {
    if (mistake == 2)
      ++node->value.hits.count;
    else
      atomicAdd(&node->value.hits.count, 1);
    atomicMax(&node->value.hits.last, i);
  } else {
    atomicAdd(&node->value.sum, 0.5 * i);
  }
}

PROGRAM(trees, 2) {
  const int nodes = 60, n = 500;
  Node* pool;
  CUDA(cudaMallocManaged(&pool, nodes * sizeof(Node)));
  Random random(96);
  int used = 0;
  while (used < nodes) {
    const short key = static_cast<short>(random.below(4 * nodes) - 2 * nodes);
    Node** at = used ? &pool[0].left : nullptr;
    if (used) {
      Node* up = pool;
      while (up) {
        if (key == up->key) break;
        at = key < up->key ? &up->left : &up->right;
        up = *at;
      }
      if (up) continue;
      *at = &pool[used];
    }
    Node& node = pool[used++];
    node.left = node.right = nullptr, node.key = key, node.kind = key & 1;
    if (node.kind)
      node.value.sum = 0;
    else
      node.value.hits = {0, -1};
  }
  std::vector<short> keys(n);
  for (short& k : keys) k = static_cast<short>(random.below(4 * nodes) - 2 * nodes);
  Buffer<short> d_keys(keys);
  visit<<<divide_up(n, 64), 64>>>(pool, d_keys, n, mistake);
  CUDA(cudaDeviceSynchronize());
  int wrong = 0, found = 0;
  for (int k = 0; k < nodes; ++k) {
    int count = 0, last = -1;
    double sum = 0;
    for (int i = 0; i < n; ++i)
      if (keys[i] == pool[k].key) ++count, last = i, sum += 0.5 * i;
    found += count;
    wrong += pool[k].kind ? pool[k].value.sum != sum
                          : pool[k].value.hits.count != count || pool[k].value.hits.last != last;
  }
  CUDA(cudaFree(pool));
  return verdict(wrong == 0 && found > 50, "%d of %d nodes wrong, %d keys found", wrong, nodes,
                 found);
}

}  // namespace trees
