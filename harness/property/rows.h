// Matrices and images in device arrays: rows of `columns` elements, one every `stride` elements.
// The elements between two rows are not part of the matrix.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/ledger/verdict.h"
#include "harness/property/case.h"

namespace lockstep {

// Returns the rows of an output of rows * stride elements without the gaps. Fails the case if an
// element between two rows was written, or if an element of a row provably still holds its poison.
template <class T>
std::vector<T> fetch_rows(const DeviceArray<T>& array, std::int64_t rows, std::int64_t columns,
                          std::int64_t stride) {
  const std::vector<T> wide = array.fetch();
  std::vector<T> dense;
  dense.reserve(rows * columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const T& value = wide[i * stride + j];
      const bool poisoned = array.holds_poison(i * stride + j, value);
      if (j >= columns && !poisoned) {
        fail_case(
            {Reason::kGuard, "",
             fmt::format(
                 "'{}' has {} columns, but element {} of row {}, between the rows, was written",
                 array.name(), columns, j, i)});
      }
      if (j < columns && poisoned && array.poison_is_no_result()) {
        fail_case({Reason::kUnwritten, "",
                   fmt::format("element ({}, {}) of '{}' was never written: it holds its poison", i,
                               j, array.name())});
      }
      if (j < columns) dense.push_back(value);
    }
  }
  return dense;
}

}  // namespace lockstep
