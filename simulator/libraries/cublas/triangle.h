// A triangular matrix op(A), and systems of equations with it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulator/libraries/cublas/access.h"
#include "simulator/libraries/cublas/product.h"

namespace lockstep::cublas {

template <class T>
class Triangle {
 public:
  // `at` is the address of `a`. `a` is kLower or kUpper as stored in memory.
  Triangle(const Matrix& a, const std::byte* at, Op op)
      : a_(a), at_(at), op_(op), is_lower_((a.part == Matrix::Part::kLower) == (op == Op::kNone)) {}

  // An element of op(A) in its triangle. 1 on a diagonal that is not accessed.
  T operator()(std::int64_t row, std::int64_t column) const {
    if (row == column && !a_.has_diagonal) return T{1};
    if (op_ != Op::kNone) std::swap(row, column);
    const T value = load<T>(a_.type, at_ + offset(a_, row, column));
    return op_ == Op::kConjugateTranspose ? conjugate(value) : value;
  }
  bool is_lower() const { return is_lower_; }

  // Solves op(A) x = b by substitution. `x` contains b on entry.
  void solve(std::vector<T>& x) const {
    solve(x, is_lower_,
          [&](std::int64_t row, std::int64_t column) { return (*this)(row, column); });
  }
  // Solves op(A)^T x = b without conjugation.
  void solve_transposed(std::vector<T>& x) const {
    solve(x, !is_lower_,
          [&](std::int64_t row, std::int64_t column) { return (*this)(column, row); });
  }

 private:
  template <class At>
  void solve(std::vector<T>& x, bool forward, At&& at) const {
    const auto n = static_cast<std::int64_t>(x.size());
    for (std::int64_t done = 0; done < n; ++done) {
      const std::int64_t i = forward ? done : n - 1 - done;
      T sum = x[static_cast<std::size_t>(i)];
      for (std::int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); ++j)
        sum = multiply_add(-at(i, j), x[static_cast<std::size_t>(j)], sum);
      x[static_cast<std::size_t>(i)] = a_.has_diagonal ? sum / at(i, i) : sum;
    }
  }

  const Matrix& a_;
  const std::byte* at_;
  Op op_;
  bool is_lower_;
};

}  // namespace lockstep::cublas
