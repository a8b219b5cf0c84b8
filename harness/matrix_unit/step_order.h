// Which products are summed at once and in which order, from the one question: is a small term left
// beside two large ones that cancel each other?
//
// It is where it comes in a later step than both. In the same step it is cut, and before or between
// them it is lost in rounding.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::matrix_unit {

// Places of terms: k of a product, or -1 for C.
struct Triple {
  int plus, minus, small;
};
using Survives = std::function<std::vector<bool>(const std::vector<Triple>&)>;

struct StepOrder {
  std::vector<std::vector<int>> steps;
  bool c_last = false;  // C comes after all; else with the first step
  std::string unclear;  // why there is none; empty when there is
};
StepOrder find_step_order(int k, const Survives& survives);

// "8, in order of k", "16: 0-1 4-5 8-9 ...; 2-3 6-7 ...".
std::string text_of(const std::vector<std::vector<int>>& steps);

}  // namespace lockstep::matrix_unit
