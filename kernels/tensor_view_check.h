// The argument checks for the matrices of tensor_matmul's launchers.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/tensor_matmul.h"

namespace lockstep::kernels {

template <class Data>
bool is_empty(const TensorView<Data>& v) {
  return v.rows == 0 || v.columns == 0;
}

template <class Data>
void check_matrix(ArgumentCheck& check, const std::string& name, const TensorView<Data>& v,
                  int element_bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  check.number((name + ".rows").c_str(), v.rows, 0, kMost);
  check.number((name + ".columns").c_str(), v.columns, 0, kMost);
  check.require(v.stride >= v.columns, [&] {
    return name + " has stride " + std::to_string(v.stride) + ", less than its " +
           std::to_string(v.columns) + " columns";
  });
  if (!check.ok() || is_empty(v)) return;
  check.require(v.stride <= kMost / element_bytes / v.rows,
                [&] { return name + " has more elements than can be addressed"; });
  check.array(name, v.data, element_bytes);
}

// The bytes from the first element to the last; v is not empty.
template <class Data>
std::uint64_t extent_of(const TensorView<Data>& v, int element_bytes) {
  return ((v.rows - 1) * v.stride + v.columns) * element_bytes;
}

template <class Data>
std::string shape(const TensorView<Data>& v) {
  return std::to_string(v.rows) + " x " + std::to_string(v.columns);
}

}  // namespace lockstep::kernels
