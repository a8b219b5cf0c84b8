#include "harness/matrix_unit/step_order.h"

#include <algorithm>
#include <map>

namespace lockstep::matrix_unit {
namespace {

constexpr int kAccumulator = -1;

// after[p][r]: observed that r is summed after p.
using Relation = std::vector<std::vector<bool>>;

Relation nothing(int k) {
  return Relation(static_cast<std::size_t>(k), std::vector<bool>(static_cast<std::size_t>(k)));
}

// The relation with C as the term that cancels p.
Relation beside_c(int k, const Survives& survives) {
  std::vector<Triple> triples;
  for (int p = 0; p < k; ++p) {
    for (int r = 0; r < k; ++r) {
      if (r != p) triples.push_back({p, kAccumulator, r});
    }
  }
  const std::vector<bool> left = survives(triples);
  Relation after = nothing(k);
  for (std::size_t i = 0; i < left.size(); ++i) {
    after[static_cast<std::size_t>(triples[i].plus)][static_cast<std::size_t>(triples[i].small)] =
        left[i];
  }
  return after;
}

// The relation with another product q to cancel p: a term after both is after p. If q is not later
// than p, the terms found are all that are after p. For the usual orders, a few distances from p to
// q suffice.
Relation beside_products(int k, bool all_pairs, const Survives& survives) {
  std::vector<Triple> triples;
  for (int distance = 1; distance < k; distance = all_pairs ? distance + 1 : 2 * distance) {
    for (int p = 0; p < k; ++p) {
      const int q = (p + distance) % k;
      if (all_pairs && q < p) continue;
      for (int r = 0; r < k; ++r) {
        if (r != p && r != q) triples.push_back({p, q, r});
      }
    }
  }
  const std::vector<bool> left = survives(triples);
  Relation after = nothing(k);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    after[static_cast<std::size_t>(triples[i].plus)][static_cast<std::size_t>(triples[i].small)] =
        true;
    after[static_cast<std::size_t>(triples[i].minus)][static_cast<std::size_t>(triples[i].small)] =
        true;
  }
  return after;
}

// Whether C is summed after these pairs of products.
std::vector<bool> c_after(int k, const Survives& survives) {
  std::vector<Triple> triples;
  for (int p = 0; p < k; ++p) {
    triples.push_back({p, (p + 1) % k, kAccumulator});
    if (p > 1) triples.push_back({0, p, kAccumulator});
  }
  return survives(triples);
}

// The steps of an order, or none if the relation is no order.
std::vector<std::vector<int>> classes_of(int k, const Relation& after) {
  const auto later = [&](int p, int r) {
    return after[static_cast<std::size_t>(p)][static_cast<std::size_t>(r)];
  };
  std::map<int, std::vector<int>> by_rank;  // key: the number of products before
  for (int r = 0; r < k; ++r) {
    int before = 0;
    for (int p = 0; p < k; ++p) before += p != r && later(p, r);
    by_rank[before].push_back(r);
  }
  std::vector<std::vector<int>> steps;
  std::vector<int> step_of(static_cast<std::size_t>(k));
  for (auto& [rank, members] : by_rank) {
    for (const int r : members)
      step_of[static_cast<std::size_t>(r)] = static_cast<int>(steps.size());
    steps.push_back(std::move(members));
  }
  for (int p = 0; p < k; ++p) {
    for (int r = 0; r < k; ++r) {
      if (p != r && later(p, r) != (step_of[static_cast<std::size_t>(p)] <
                                    step_of[static_cast<std::size_t>(r)]))
        return {};
    }
  }
  return steps;
}

}  // namespace

StepOrder find_step_order(int k, const Survives& survives) {
  StepOrder order;
  const std::vector<bool> c = c_after(k, survives);
  const auto c_seen = std::count(c.begin(), c.end(), true);
  const Relation after = beside_c(k, survives);
  bool any = false;
  for (const std::vector<bool>& row : after)
    any = any || std::count(row.begin(), row.end(), true) > 0;
  if (c_seen == static_cast<long>(c.size())) {
    if (any) {
      order.unclear = "a step keeps more bits than inputs reach";
      return order;
    }
    order.c_last = true;
    order.steps = classes_of(k, beside_products(k, false, survives));
    if (order.steps.empty()) order.steps = classes_of(k, beside_products(k, true, survives));
  } else if (c_seen != 0) {
    order.unclear = "C comes after some products and before others";
    return order;
  }
  if (!order.c_last) order.steps = classes_of(k, after);
  if (order.steps.empty()) order.unclear = "what is summed before what is no order";
  return order;
}

std::string text_of(const std::vector<std::vector<int>>& steps) {
  bool in_order = true, alike = true;
  int next = 0;
  for (const std::vector<int>& step : steps) {
    alike = alike && step.size() == steps.front().size();
    for (const int k : step) in_order = in_order && k == next++;
  }
  if (in_order && alike) {
    return std::to_string(steps.front().size()) + (steps.size() > 1 ? ", in order of k" : "");
  }
  std::string text = alike ? std::to_string(steps.front().size()) + ": " : "";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) text += "; then ";
    const std::vector<int>& step = steps[i];
    for (std::size_t from = 0; from < step.size();) {
      std::size_t to = from;
      while (to + 1 < step.size() && step[to + 1] == step[to] + 1) ++to;
      if (from > 0) text += ' ';
      text += std::to_string(step[from]) + (to > from ? "-" + std::to_string(step[to]) : "");
      from = to + 1;
    }
  }
  return text;
}

}  // namespace lockstep::matrix_unit
