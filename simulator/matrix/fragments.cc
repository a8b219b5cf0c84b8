#include "simulator/matrix/fragments.h"

#include <utility>

namespace lockstep::matrix {
namespace {

using isa::Type;

constexpr int kLanes = 32;

// mma.m8n8k4 of f16: four multiplications, each by the four lanes of a quad and the four lanes 16
// further (PTX ISA 9.7.14.5.1).
Element quad_element(const Fragment& f, int lane, int n) {
  const int group = lane >> 2 & 3, in_quad = lane & 3, upper = lane >= 16 ? 4 : 0;
  if (f.which == Which::kC) {
    if (f.type == Type::kF16) return {8 * group + in_quad + upper, n};
    return {8 * group + (lane & 1) + (n & 2) + upper, (n & 4) + (lane & 2) + (n & 1)};
  }
  // A lane holds one row of A or one column of B; with the other layout, one element of several
  // rows or columns.
  const bool along_k = (f.which == Which::kA) != f.by_columns;
  const int across = 8 * group + (along_k ? in_quad + upper : n + upper), k = along_k ? n : in_quad;
  return f.which == Which::kA ? Element{across, k} : Element{k, across};
}

// mma with 8 or 16 rows and with 8 columns of B and C.
Element mma_element(Which which, int rows, int per, int lane, int n) {
  const int group = lane >> 2, in_group = lane & 3, r = n / per, sub = n % per;
  switch (which) {
    case Which::kC: return {group + 8 * (n >> 1), 2 * in_group + (n & 1)};
    case Which::kB: return {4 * per * r + per * in_group + sub, group};
    default: break;
  }
  // With 16 rows, every other register belongs to the lower half.
  const int halves = rows / 8;
  return {group + 8 * (r % halves), 4 * per * (r / halves) + per * in_group + sub};
}

// wmma consists of mma on blocks of 16 rows and 8 columns. With 8 rows and 32 columns, everything
// is transposed.
Element wmma_element(Fragment f, int lane, int n) {
  if (f.shape.m == 8 && f.shape.n == 32) {
    std::swap(f.shape.m, f.shape.n);
    if (f.which != Which::kC) f.which = f.which == Which::kA ? Which::kB : Which::kA;
    const Element e = wmma_element(f, lane, n);
    return {e.column, e.row};
  }
  n %= f.rows() * f.columns() / kLanes;
  const int rows = f.shape.m == 8 ? 8 : 16;
  const int across = f.which == Which::kA ? rows : f.which == Which::kB ? 8 : rows;  // of a block
  const int along = f.which == Which::kC ? 8 : f.shape.k;
  const int block = n / (across * along / kLanes);
  Element e = mma_element(f.which, rows, f.which == Which::kC ? 1 : f.elements_a_register(), lane,
                          n % (across * along / kLanes));
  if (f.which == Which::kA || (f.which == Which::kC && f.shape.n == 8)) {
    e.row += rows * block;
  } else {
    e.column += 8 * block;
  }
  return e;
}

}  // namespace

bool is_quad(const Fragment& f) {
  return f.family == Family::kMma && f.shape.m == 8 && f.shape.k == 4 && f.type != Type::kF64;
}

int Fragment::rows() const {
  return which == Which::kB ? shape.k : is_quad(*this) ? 4 * shape.m : shape.m;
}

int Fragment::columns() const {
  if (which == Which::kB && is_quad(*this)) return 4 * shape.n;
  if (which != Which::kA) return shape.n;
  return family == Family::kMmaSparse || family == Family::kWarpgroupSparse ? shape.k / 2 : shape.k;
}

int Fragment::registers() const {
  if (family == Family::kWmma && type == Type::kF16 && which != Which::kC)
    return 8;  // for every shape
  return rows() * columns() / (kLanes * elements_a_register());
}

Element element_of(const Fragment& f, int lane, int n) {
  if (is_quad(f)) return quad_element(f, lane, n);
  if (f.family == Family::kWmma) return wmma_element(f, lane, n);
  if (f.family >= Family::kWarpgroup && f.which == Which::kC) {
    const Element e = mma_element(f.which, 16, 1, lane, n % 4);  // blocks of 8 columns
    return {e.row, 8 * (n / 4) + e.column};
  }
  return mma_element(f.which, f.shape.m, f.which == Which::kC ? 1 : f.elements_a_register(), lane,
                     n);
}

int Sparsity::group() const {
  switch (isa::bits_of(type)) {
    case 4: return 8;
    case 32: return 2;
    default: return 4;
  }
}

Sparsity::Place Sparsity::place(int row, int group, int selector) const {
  const int quad = 4 * (row & 7), half = row >> 3;
  const int lanes = groups() / 4;  // of each quad, those with metadata
  // Elements of 16 bits and more: a lane has four groups of two rows that are eight apart. Smaller
  // elements: eight groups of one row.
  if (lanes == 1) return {quad + selector, 16 * half + 4 * group};
  if (isa::bits_of(type) >= 16)
    return {quad + lanes * selector + group / 4, 16 * half + 4 * (group % 4)};
  return {quad + lanes * selector + 2 * (group / 8) + half, 4 * (group % 8)};
}

int Sparsity::column(std::uint32_t four_bits, int n) const {
  switch (isa::bits_of(type)) {
    case 4: return 2 * static_cast<int>(n < 2 ? four_bits & 3 : four_bits >> 2 & 3) + (n & 1);
    case 32: return four_bits == 0xe ? 1 : 0;
    default: return static_cast<int>(n == 0 ? four_bits & 3 : four_bits >> 2 & 3);
  }
}

}  // namespace lockstep::matrix
