// Every element of a matrix occurs in its fragment, all equally often.
// simulator/vectors:matrix_replay_test compares the positions with silicon.
#include "simulator/matrix/fragments.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace lockstep::matrix {
namespace fragments_test {

using isa::Type;

// How often each element occurs; the number must be the same for all.
int copies(const Fragment& f) {
  std::map<std::pair<int, int>, int> held;
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < f.elements(); ++n) {
      const Element e = element_of(f, lane, n);
      EXPECT_TRUE(e.row >= 0 && e.row < f.rows() && e.column >= 0 && e.column < f.columns())
          << e.row << ", " << e.column;
      ++held[{e.row, e.column}];
    }
  }
  EXPECT_EQ(held.size(), static_cast<std::size_t>(f.rows() * f.columns()));
  const int first = held.begin()->second;
  for (const auto& [place, count] : held)
    EXPECT_EQ(count, first) << place.first << ", " << place.second;
  return first;
}

TEST(Fragments, MmaHoldsEveryElementOnce) {
  struct Case {
    Type type;
    isa::Shape shape;
  };
  for (const Case& c :
       {Case{Type::kF16, {16, 8, 8}}, Case{Type::kF16, {16, 8, 16}}, Case{Type::kTF32, {16, 8, 4}},
        Case{Type::kTF32, {16, 8, 8}}, Case{Type::kF64, {8, 8, 4}}, Case{Type::kF64, {16, 8, 16}},
        Case{Type::kS8, {8, 8, 16}}, Case{Type::kS8, {16, 8, 32}}, Case{Type::kS4, {16, 8, 64}},
        Case{Type::kB1, {16, 8, 256}}}) {
    for (const Which which : {Which::kA, Which::kB})
      EXPECT_EQ(copies({Family::kMma, which, c.type, c.shape}), 1);
    EXPECT_EQ(
        copies({Family::kMma, Which::kC, c.type == Type::kF64 ? Type::kF64 : Type::kF32, c.shape}),
        1);
  }
}

TEST(Fragments, AQuarterOfAWarpHasAMultiplicationOfItsOwn) {
  const isa::Shape shape{8, 8, 4};
  for (const bool by_columns : {false, true}) {
    for (const Which which : {Which::kA, Which::kB})
      EXPECT_EQ(copies({Family::kMma, which, Type::kF16, shape, by_columns}), 1);
  }
  for (const Type type : {Type::kF16, Type::kF32})
    EXPECT_EQ(copies({Family::kMma, Which::kC, type, shape}), 1);
}

TEST(Fragments, WmmaHoldsSomeElementsTwice) {
  for (const isa::Shape& shape :
       {isa::Shape{16, 16, 16}, isa::Shape{8, 32, 16}, isa::Shape{32, 8, 16}}) {
    // Eight registers for every shape.
    EXPECT_EQ(copies({Family::kWmma, Which::kA, Type::kF16, shape}), 8 * 64 / (shape.m * 16));
    EXPECT_EQ(copies({Family::kWmma, Which::kB, Type::kF16, shape}), 8 * 64 / (shape.n * 16));
    for (const Type type : {Type::kBF16, Type::kU8}) {
      EXPECT_EQ(copies({Family::kWmma, Which::kA, type, shape}), 1);
      EXPECT_EQ(copies({Family::kWmma, Which::kB, type, shape}), 1);
    }
    for (const Type type : {Type::kF16, Type::kF32})
      EXPECT_EQ(copies({Family::kWmma, Which::kC, type, shape}), 1);
  }
}

TEST(Fragments, AWarpOfAWarpgroupHoldsSixteenRows) {
  for (const std::uint16_t n : {8, 24, 256}) {
    EXPECT_EQ(copies({Family::kWarpgroup, Which::kC, Type::kF32, {16, n, 16}}), 1);
    EXPECT_EQ(copies({Family::kWarpgroup, Which::kC, Type::kF16, {16, n, 16}}), 1);
  }
  EXPECT_EQ(copies({Family::kWarpgroup, Which::kA, Type::kBF16, {16, 8, 16}}), 1);
}

TEST(Sparsity, EveryGroupHasItsFourBits) {
  struct Case {
    Type type;
    isa::Shape shape;
    int selectors;
  };
  for (const Case& c : {Case{Type::kF16, {16, 8, 16}, 4}, Case{Type::kF16, {16, 8, 32}, 2},
                        Case{Type::kTF32, {16, 8, 8}, 4}, Case{Type::kTF32, {16, 8, 16}, 2},
                        Case{Type::kS8, {16, 8, 32}, 2}, Case{Type::kS8, {16, 8, 64}, 1},
                        Case{Type::kS4, {16, 8, 128}, 1}}) {
    const Sparsity s{c.type, c.shape};
    for (int selector = 0; selector < c.selectors; ++selector) {
      std::map<std::pair<int, int>, int> places;
      for (int row = 0; row < 16; ++row) {
        for (int group = 0; group < s.groups(); ++group) {
          const Sparsity::Place p = s.place(row, group, selector);
          EXPECT_TRUE(p.lane >= 0 && p.lane < 32 && p.shift >= 0 && p.shift <= 28);
          ++places[{p.lane, p.shift}];
        }
      }
      EXPECT_EQ(places.size(), static_cast<std::size_t>(16 * s.groups()));
    }
  }
}

TEST(Sparsity, FourBitsNameTwoColumns) {
  const Sparsity halves{Type::kF16, {16, 8, 16}}, words{Type::kTF32, {16, 8, 8}},
      nibbles{Type::kS4, {16, 8, 64}};
  EXPECT_EQ(halves.column(0xd, 0), 1);
  EXPECT_EQ(halves.column(0xd, 1), 3);
  EXPECT_EQ(words.column(0x4, 0), 0);
  EXPECT_EQ(words.column(0xe, 0), 1);
  // 4-bit elements are selected in pairs.
  EXPECT_EQ(nibbles.column(0x8, 1), 1);
  EXPECT_EQ(nibbles.column(0x8, 2), 4);
  EXPECT_EQ(nibbles.column(0x8, 3), 5);
}

}  // namespace fragments_test
}  // namespace lockstep::matrix
