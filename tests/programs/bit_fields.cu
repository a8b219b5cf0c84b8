// Bit fields assigned one by one in uninitialised memory: the compiler reads the word, replaces the
// field's bits and writes the word back. debug.cu and unoptimised.cu include this program too:
// there every local variable is in memory.
#include "program.h"

namespace bit_fields {

struct Header {
  unsigned version : 4, urgent : 1, kind : 3;
  unsigned length : 12;
  int offset : 12;
};
struct Stamp {
  unsigned long long time : 40, source : 24;
};
// Nine bits of a word; the other bits are never written.
struct Flags {
  unsigned seen : 1, level : 8;
};

__host__ __device__ inline unsigned mixed(unsigned h, unsigned v) { return h * 31 + v; }
__host__ __device__ inline unsigned digest(const Header& h, const Stamp& s) {
  unsigned d = mixed(h.version, h.kind);
  d = mixed(mixed(d, h.length), static_cast<unsigned>(h.offset));
  return mixed(mixed(d, static_cast<unsigned>(s.time)), s.source);
}
__device__ __noinline__ unsigned digest_by_value(Header h, Stamp s) { return digest(h, s); }

__global__ void take_apart(const unsigned* raw, int n, Header* headers, Stamp* stamps, Flags* flags,
                           unsigned* digests, int mistake) {
  __shared__ Header shared[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Header& h = shared[threadIdx.x];
  h.version = raw[i];
  if (mistake != 1) h.urgent = raw[i] >> 4;
  h.kind = raw[i] >> 5;
  h.length = raw[i] >> 8;
  h.offset = static_cast<int>(raw[i]) >> 20;
  Stamp s;
  s.source = i;
  s.time = 1000003ull * raw[i];
  stamps[i].time = s.time;
  stamps[i].source = s.source;
  flags[i].seen = 1;
  if (mistake != 2) flags[i].level = h.kind;
  const Header copy = h;
  digests[i] = digest_by_value(copy, s) ^ (h.urgent ? 0xffffu : 0u);
  // In another order, and one field copied from another.
  headers[i].offset = copy.offset;
  headers[i].kind = copy.kind;
  headers[i].urgent = copy.kind == 3;
  headers[i].version = copy.version;
  headers[i].length = headers[i].offset < 0 ? copy.length : copy.length / 2;
}

__global__ void count_levels(const Flags* flags, int n, unsigned* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i].seen && flags[i].level > 3) atomicAdd(counts + flags[i].level, 1u);
}

PROGRAM(bit_fields, 2) {
  const int n = 200;
  std::vector<unsigned> words(n);
  Random random(123);
  for (unsigned& w : words)
    w = static_cast<unsigned>(random.below(1 << 16)) << 16 |
        static_cast<unsigned>(random.below(1 << 16));
  Buffer<unsigned> raw(words), digests(n), counts(std::vector<unsigned>(256, 0));
  Buffer<Header> headers(n);
  Buffer<Stamp> stamps(n);
  Buffer<Flags> flags(n);
  take_apart<<<divide_up(n, 64), 64>>>(raw, n, headers, stamps, flags, digests, mistake);
  count_levels<<<divide_up(n, 64), 64>>>(flags, n, counts);
  const std::vector<unsigned> d = digests.host(), c = counts.host();
  const std::vector<Header> hs = headers.host();
  const std::vector<Stamp> ss = stamps.host();
  int wrong = 0;
  std::vector<unsigned> levels(256, 0);
  for (int i = 0; i < n; ++i) {
    const unsigned w = words[i], kind = w >> 5 & 7, length = w >> 8 & 0xfff;
    const int offset = static_cast<int>(w) >> 20;
    const Header h{w & 15, w >> 4 & 1, kind, length, offset};
    const Stamp s{1000003ull * w & ((1ull << 40) - 1), static_cast<unsigned>(i)};
    wrong += d[i] != (digest(h, s) ^ (h.urgent ? 0xffffu : 0u));
    wrong += hs[i].offset != offset || hs[i].kind != kind || hs[i].urgent != (kind == 3) ||
             hs[i].version != h.version;
    wrong += hs[i].length != (offset < 0 ? length : length / 2);
    wrong += ss[i].time != s.time || ss[i].source != s.source;
    levels[kind] += kind > 3;
  }
  for (int k = 0; k < 256; ++k) wrong += c[k] != levels[k];
  return verdict(wrong == 0, "%d of %d records are wrong", wrong, n);
}

}  // namespace bit_fields
