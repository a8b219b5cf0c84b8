// The 0/1 knapsack: each launch adds one item to a row of 64-bit values, one for every capacity.
// Bits record which items were taken.
#include "program.h"

namespace knapsack {

__global__ void item(const long long* from, long long* to, unsigned* taken, int capacity,
                     int weight, long long value, int mistake) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const bool fits = c >= weight && c <= capacity;
  long long best = 0;
  bool take = false;
  if (c <= capacity) {
    best = from[c];
    if (fits && from[c - weight] + value > best) best = from[c - weight] + value, take = true;
    to[c] = best;
  }
  const unsigned bits = __ballot_sync(0xffffffff, take);
  if (threadIdx.x % 32 == 0 && (c <= capacity || mistake == 2)) taken[c / 32] = bits;
}

PROGRAM(knapsack, 2) {
  const int capacity = 500, items = 40, words = divide_up(capacity + 1, 32);
  std::vector<int> weights(items);
  std::vector<long long> values(items);
  Random random(54);
  for (int i = 0; i < items; ++i)
    weights[i] = 5 + random.below(60), values[i] = (1ll << 33) + random.below(1000000) * 10000ll;
  Buffer<long long> from(capacity + 1), to(capacity + 1);
  Buffer<unsigned> taken(words * items);
  from.zero();
  for (int i = 0; i < items; ++i) {
    item<<<divide_up(capacity + 1, 192), 192>>>(from, mistake == 1 ? from : to,
                                                taken.get() + i * words, capacity, weights[i],
                                                values[i], mistake);
    if (mistake != 1) from.swap(to);
  }
  const long long best = from.host()[capacity];
  const std::vector<unsigned> bits = taken.host();
  long long value = 0;
  int weight = 0;
  for (int i = items - 1, left = capacity; i >= 0; --i)
    if (bits[i * words + left / 32] >> left % 32 & 1)
      value += values[i], weight += weights[i], left -= weights[i];

  // All Pareto-optimal pairs of weight and value (Nemhauser and Ullmann).
  std::vector<std::pair<int, long long>> front = {{0, 0}};
  for (int i = 0; i < items; ++i) {
    std::vector<std::pair<int, long long>> all = front, next;
    for (const auto& [w, v] : front) all.push_back({w + weights[i], v + values[i]});
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    for (const auto& p : all)
      if (p.first <= capacity && (next.empty() || p.second > next.back().second)) next.push_back(p);
    front = next;
  }
  const long long expected = front.back().second;
  return verdict(best == expected && value == best && weight <= capacity,
                 "value %lld, %lld expected, %lld in a weight of %d", best, expected, value,
                 weight);
}

}  // namespace knapsack
