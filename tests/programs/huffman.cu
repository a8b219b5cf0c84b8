// Huffman coding: byte counts, the code on the host, a scan of lengths, and bits packed into words
// by atomicOr.
#include <queue>

#include "program.h"

namespace huffman {

struct Code {
  unsigned bits;
  unsigned char length;
};

__constant__ Code codes[256];

__global__ void count(const unsigned char* text, int n, unsigned* counts) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicInc(&counts[text[i]], 0xffffffff);
}

// Each thread codes 8 letters. It computes the position of its first bit as the sum of all earlier
// lengths.
__global__ void pack(const unsigned char* text, int n, unsigned* out, unsigned* bits, int mistake) {
  const int from = (blockIdx.x * blockDim.x + threadIdx.x) * 8, to = min(from + 8, n);
  if (from >= n) return;
  unsigned at = 0;
  for (int i = 0; i < from; ++i) at += codes[text[i]].length;
  for (int i = from; i < to; ++i) {
    const Code c = codes[text[i]];
    const unsigned long long shifted = static_cast<unsigned long long>(c.bits) << (at % 32);
    const unsigned low = static_cast<unsigned>(shifted),
                   high = static_cast<unsigned>(shifted >> 32);
    if (mistake == 1)
      out[at / 32] |= low;
    else
      atomicOr(&out[at / 32], low);
    if (high) atomicOr(&out[at / 32 + 1], high);
    at += c.length;
  }
  if (to == n) *bits = at;
}

struct Node {
  unsigned weight;
  int left, right, letter;
};

PROGRAM(huffman, 2) {
  const int n = 1501;
  std::vector<unsigned char> text(n);
  Random random(32);
  for (unsigned char& c : text)
    c = static_cast<unsigned char>('a' + random.below(1 + random.below(26)));
  Buffer<unsigned char> d_text(text);
  Buffer<unsigned> counts(256), out(n), bits(1);
  counts.zero();
  if (mistake != 2) out.zero();
  count<<<3, 100>>>(d_text, n, counts);
  const std::vector<unsigned> weights = counts.host();

  std::vector<Node> tree;
  const auto lighter = [&](int a, int b) { return tree[a].weight > tree[b].weight; };
  std::priority_queue<int, std::vector<int>, decltype(lighter)> open(lighter);
  for (int c = 0; c < 256; ++c)
    if (weights[c])
      tree.push_back({weights[c], -1, -1, c}), open.push(static_cast<int>(tree.size()) - 1);
  while (open.size() > 1) {
    const int a = open.top();
    open.pop();
    const int b = open.top();
    open.pop();
    tree.push_back({tree[a].weight + tree[b].weight, a, b, -1});
    open.push(static_cast<int>(tree.size()) - 1);
  }
  Code table[256] = {};
  struct Step {
    int node;
    Code code;
  };
  std::vector<Step> stack = {{open.top(), {0, 0}}};
  while (!stack.empty()) {
    const Step s = stack.back();
    stack.pop_back();
    if (tree[s.node].letter >= 0) {
      table[tree[s.node].letter] = s.code;
      continue;
    }
    const unsigned char next = s.code.length + 1;
    stack.push_back({tree[s.node].left, {s.code.bits, next}});
    stack.push_back({tree[s.node].right, {s.code.bits | 1u << s.code.length, next}});
  }
  CUDA(cudaMemcpyToSymbol(codes, table, sizeof table));
  pack<<<divide_up(n, 8 * 32), 32>>>(d_text, n, out, bits, mistake);

  const std::vector<unsigned> packed = out.host();
  const unsigned size = bits.host()[0];
  std::vector<unsigned char> back;
  for (unsigned i = 0, node = open.top(); i < size; ++i) {
    node = packed[i / 32] >> i % 32 & 1 ? tree[node].right : tree[node].left;
    if (tree[node].letter >= 0)
      back.push_back(static_cast<unsigned char>(tree[node].letter)), node = open.top();
  }
  return verdict(back == text, "%u bits for %d letters", size, n);
}

}  // namespace huffman
