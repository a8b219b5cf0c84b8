#include "simulator/matrix/tensor_layout.h"

namespace lockstep::matrix {

using isa::TensorShape;

int TensorTransfer::registers() const {
  switch (shape) {
    case TensorShape::k16x128b: return 2 * number;
    case TensorShape::k16x256b: return 4 * number;
    default: return number;
  }
}

int TensorTransfer::columns() const {
  const int wide = packed ? 2 : 1;
  switch (shape) {
    case TensorShape::k16x64b: return wide * 2 * number;
    case TensorShape::k16x128b: return wide * 4 * number;
    case TensorShape::k16x256b: return wide * 8 * number;
    default: return wide * number;
  }
}

TensorPlace TensorTransfer::place(int lane, int reg, int part) const {
  TensorPlace p;  // in columns of 32 bits, without packing
  int apart = 0;
  switch (shape) {
    case TensorShape::k16x64b: p = {lane / 4 + 8 * (lane & 1), 2 * reg + (lane >> 1 & 1)}; break;
    case TensorShape::k16x128b: p = {lane / 4 + 8 * (reg & 1), 4 * (reg / 2) + lane % 4}; break;
    case TensorShape::k16x256b:
      p = {lane / 4 + 8 * (reg >> 1 & 1), 8 * (reg / 4) + 2 * (lane % 4) + (reg & 1)};
      break;
    case TensorShape::k16x32bx2:
      p = {lane % 16, reg};
      apart = lane / 16 * half;
      break;
    default: p = {lane, reg}; break;
  }
  return {p.lane, (packed ? 2 * p.column + part : p.column) + apart};
}

std::vector<AccumulatorPart> accumulator_parts(int m, int n, bool paired, bool stationary,
                                               bool sparse) {
  const int blocks = paired ? 2 : 1, rows = m / blocks;
  if (paired && sparse && rows == 64)
    return {{0, 0, 0, 64, 0, n, true}, {1, 0, 64, 64, 0, n, true}};
  if (!paired && !stationary && rows == 64) return {{0, 0, 0, 64, 0, n, true}};
  const int beside = 128 / rows;
  std::vector<AccumulatorPart> parts;
  for (int block = 0; block < blocks; ++block) {
    for (int part = 0; part < beside; ++part)
      parts.push_back({block, part * rows, block * rows, rows, part * n / beside, n / beside});
  }
  return parts;
}

}  // namespace lockstep::matrix
