// Hidden Markov models: the forward probability, with exp in its loop and scaled in each step, and
// the most likely path.
#include "program.h"

namespace viterbi {

constexpr int kStates = 11;

// Each block decodes one sequence. log_a[i][j] and log_b[j][symbol] are logarithms.
__global__ void decode(const double* log_a, const double* log_b, int symbols,
                       const unsigned char* seen, int length, double* log_likelihood,
                       unsigned char* back, unsigned char* path, int mistake) {
  __shared__ double forward[2][kStates], most[2][kStates], scale;
  const int j = threadIdx.x;
  const unsigned char* mine = seen + blockIdx.x * length;
  unsigned char* from = back + static_cast<size_t>(blockIdx.x) * length * kStates;
  if (j < kStates) {
    forward[0][j] = exp(log_b[j * symbols + mine[0]]) / kStates;
    most[0][j] = log_b[j * symbols + mine[0]] - log(double(kStates));
  }
  double total = 0;
  for (int t = 1; t < length; ++t) {
    const int old = 1 - t % 2, now = t % 2;
    __syncthreads();
    if (j < kStates) {
      double sum = 0, best = -1e300;
      int arg = 0;
      for (int i = 0; i < kStates; ++i) {
        sum += forward[old][i] * exp(log_a[i * kStates + j]);
        const double m = most[old][i] + log_a[i * kStates + j];
        if (m > best) best = m, arg = i;
      }
      forward[now][j] = sum * exp(log_b[j * symbols + mine[t]]);
      most[now][j] = best + log_b[j * symbols + mine[t]];
      if (mistake != 2 || arg != j) from[t * kStates + j] = static_cast<unsigned char>(arg);
    }
    __syncthreads();
    if (j == 0) {
      scale = 0;
      for (int i = 0; i < kStates; ++i) scale += forward[now][i];
      total += log(scale);
    }
    if (mistake != 1) __syncthreads();
    if (j < kStates) forward[now][j] /= scale;
  }
  if (j == 0) {
    const int last = (length - 1) % 2;
    int state = 0;
    for (int i = 1; i < kStates; ++i)
      if (most[last][i] > most[last][state]) state = i;
    for (int t = length - 1; t >= 0; --t) {
      path[blockIdx.x * length + t] = static_cast<unsigned char>(state);
      if (t) state = from[t * kStates + state];
    }
    log_likelihood[blockIdx.x] = total;
  }
}

PROGRAM(viterbi, 2) {
  const int symbols = 5, length = 23, sequences = 4;
  std::vector<double> a(kStates * kStates), b(kStates * symbols);
  std::vector<unsigned char> seen(length * sequences);
  Random random(57);
  for (int i = 0; i < kStates; ++i) {
    double sa = 0, sb = 0;
    for (int j = 0; j < kStates; ++j) sa += a[i * kStates + j] = 0.1 + random.unit();
    for (int s = 0; s < symbols; ++s) sb += b[i * symbols + s] = 0.1 + random.unit();
    for (int j = 0; j < kStates; ++j) a[i * kStates + j] = std::log(a[i * kStates + j] / sa);
    for (int s = 0; s < symbols; ++s) b[i * symbols + s] = std::log(b[i * symbols + s] / sb);
  }
  for (unsigned char& s : seen) s = static_cast<unsigned char>(random.below(symbols));
  Buffer<double> d_a(a), d_b(b), d_total(sequences);
  Buffer<unsigned char> d_seen(seen), back(length * sequences * kStates),
      d_path(length * sequences);
  decode<<<sequences, 64>>>(d_a, d_b, symbols, d_seen, length, d_total, back, d_path, mistake);
  const std::vector<double> total = d_total.host();
  const std::vector<unsigned char> path = d_path.host();

  // The reference computes backward instead of forward, without scaling: the probability of 23
  // symbols is at least 1e-60. Each step has 2 kStates + 6 roundings and functions of at most two
  // ulps, in both computations. The sum of logarithms stays below 100.
  const double bound =
      length * (2 * kStates + 10) * 2 * std::ldexp(1.0, -52) + 100 * length * std::ldexp(1.0, -52);
  double error = 0;
  int worse = 0;
  for (int s = 0; s < sequences; ++s) {
    const unsigned char* o = &seen[s * length];
    std::vector<double> beta(kStates, 1), next(kStates), best(kStates, 0), next_best(kStates);
    for (int t = length - 1; t > 0; --t) {
      for (int i = 0; i < kStates; ++i) {
        next[i] = 0, next_best[i] = -1e300;
        for (int j = 0; j < kStates; ++j) {
          next[i] += std::exp(a[i * kStates + j] + b[j * symbols + o[t]]) * beta[j];
          next_best[i] =
              std::max(next_best[i], a[i * kStates + j] + b[j * symbols + o[t]] + best[j]);
        }
      }
      beta = next, best = next_best;
    }
    double p = 0, start = 0, likeliest = -1e300, ours = b[path[s * length] * symbols + o[0]];
    for (int i = 0; i < kStates; ++i) {
      p += std::exp(b[i * symbols + o[0]]) / kStates * beta[i],
          start += std::exp(b[i * symbols + o[0]]) / kStates;
      likeliest = std::max(likeliest, b[i * symbols + o[0]] + best[i]);
    }
    for (int t = 1; t < length; ++t)
      ours += a[path[s * length + t - 1] * kStates + path[s * length + t]] +
              b[path[s * length + t] * symbols + o[t]];
    // forward[0] is not scaled: the first step's scale includes its sum.
    error = std::max(error, std::abs(total[s] - std::log(p)));
    worse += !(std::abs(ours - likeliest) <= bound);
  }
  return verdict(error <= bound && worse == 0, "error %g of %g, %d paths are not the likeliest",
                 error, bound, worse);
}

}  // namespace viterbi
