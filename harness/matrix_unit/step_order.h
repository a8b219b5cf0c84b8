// Finds which products are summed at once, and in which order, from one observation: whether a
// small term survives beside two large ones that cancel.
//
// It survives in a later step than both. In the same step it is cut, and before or between them it
// is lost in rounding.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::matrix_unit {

// Places of terms: the k of a product, or -1 for C.
struct Triple {
  int plus, minus, small;
};
using Survives = std::function<std::vector<bool>(const std::vector<Triple>&)>;

struct StepOrder {
  std::vector<std::vector<int>> steps;
  bool c_last = false;  // C is added after all steps; otherwise in the first step
  std::string unclear;  // why there is no order; empty: there is one
};
StepOrder find_step_order(int k, const Survives& survives);

// "8, in order of k", "16: 0-1 4-5 8-9 ...; 2-3 6-7 ...".
std::string text_of(const std::vector<std::vector<int>>& steps);

}  // namespace lockstep::matrix_unit
