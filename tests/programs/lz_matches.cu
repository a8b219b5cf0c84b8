// The longest earlier match of every position within a window, as a dictionary coder needs it;
// greedy coding on the host.
#include "program.h"

namespace lz_matches {

constexpr int kWindow = 255, kLongest = 64;

__global__ void find(const char* text, int n, uchar2* matches, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0, distance = 0;
  for (int d = 1; d <= kWindow && d <= i; ++d) {
    if (best > 0 && (mistake == 1 || i + best < n) && text[i + best] != text[i - d + best])
      continue;  // cannot improve
    int length = 0;
    while (length < kLongest && (mistake == 1 || i + length < n) &&
           text[i + length] == text[i - d + length])
      ++length;
    if (length > best) best = length, distance = d;
    if (best == kLongest) break;
  }
  matches[i] = make_uchar2(distance, best);
}

PROGRAM(lz_matches, 1) {
  const int n = 1200;
  std::vector<char> text;
  Random random(33);
  while (text.size() < n) {
    if (text.size() > 40 && random.below(3)) {
      const size_t from = text.size() - 1 - random.below(40), length = 3 + random.below(30);
      for (size_t k = 0; k < length; ++k) text.push_back(text[from + k]);
    } else {
      text.push_back(static_cast<char>('a' + random.below(20)));
    }
  }
  text.resize(n);
  for (int k = 1; k < 9; ++k) text[n - k] = 'z';  // the last match would continue behind the end
  Buffer<char> d_text(text);
  Buffer<uchar2> d_matches(n);
  find<<<divide_up(n, 96), 96>>>(d_text, n, d_matches, mistake);
  const std::vector<uchar2> matches = d_matches.host();

  int wrong = 0, tokens = 0;
  std::vector<char> back;
  for (int i = 0; i < n; ++tokens) {
    if (matches[i].y < 3) {
      back.push_back(text[i++]);
      continue;
    }
    for (int k = 0; k < matches[i].y; ++k) back.push_back(back[back.size() - matches[i].x]);
    i += matches[i].y;
  }
  for (int i = 0; i < n; ++i) {  // no longer match exists, and no nearer one
    int longest = 0;
    for (int from = i - 1; from >= std::max(0, i - kWindow); --from) {
      int k = 0;
      while (k < kLongest && i + k < n && text[from + k] == text[i + k]) ++k;
      longest = std::max(longest, k);
    }
    wrong += matches[i].y != longest;
  }
  return verdict(wrong == 0 && back == text, "%d wrong, %d letters in %d tokens", wrong, n, tokens);
}

}  // namespace lz_matches
