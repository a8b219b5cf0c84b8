// The values of a kernel in a launch with known parameters and shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulator/proof/form.h"
#include "simulator/proof/graph.h"

namespace lockstep::proof {

// The inputs of a proof, beside the kernel.
struct Shape {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::span<const std::byte> parameters;
  std::uint64_t shared_window = 0;  // start of the generic addresses of shared memory

  std::size_t threads() const { return std::size_t{block[0]} * block[1] * block[2]; }
};

class Values {
 public:
  Values(Graph& graph, const Shape& shape);

  // The value that the operation at `pc` reads from `slot`, a register or constant with `bits` bits
  // (1: a predicate). nullopt if nothing is known, as for loaded data.
  std::optional<Form> source(program::Slot slot, std::uint32_t pc, int bits);
  // The conditions that hold whenever a thread executes the operation at `pc`, including its guard.
  Conditions conditions(std::uint32_t pc);
  // Whether all threads of a block that execute the branch at the end of `block` together take the
  // same way.
  bool branches_together(int block);
  // The branches and exits at which all arriving threads behave alike.
  Decided decided();
  // Whether the symbol stands for a value of which only the range is known, such as loaded data.
  bool is_data(Symbol s) const { return s >= kFirstLoop + static_cast<int>(of_loop_.size()); }
  std::span<const Range> symbols() const { return symbols_; }
  // The smallest and greatest integer value of the form under the conditions `where`.
  Range range(const Form& form, const Conditions& where) const;
  std::size_t threads() const { return threads_; }

 private:
  // A predicate that is `holds` whenever a condition is met.
  struct Fact {
    program::Slot slot = program::kNoSlot;
    std::uint32_t pc = 0;  // of the operation that reads it
    bool holds = true;
  };
  // A value from a path or an operand, and the threads that may have it.
  struct Way {
    std::optional<Form> form;
    Conditions where;
    std::optional<Range> range;  // if it is narrower than the form's range
  };
  std::optional<Form> evaluate(int node);
  std::optional<Form> compute(const Node& n);
  std::optional<Form> compute_predicate(const Node& n);
  std::optional<Form> shifted(const Node& n, int bits);  // shl, shr
  std::optional<Form> compared_by_range(const Form& a, const Form& b, std::uint32_t pc, int bits);
  std::optional<Form> join(int node);
  std::optional<Form> selected(const Node& n);  // a predicated write
  std::optional<Form> chosen(const Node& n);    // selp
  std::optional<Form> merged(std::vector<Way> ways, int block);
  // A value of which only the bounds are known.
  std::optional<Form> bounded(const Node& n);
  std::optional<Range> result_range(const Node& n, int bits);
  std::optional<Form> data_within(const Range& range, int bits, int block, std::int64_t unit = 1);
  Symbol new_data(Wide most, int block);
  void relate_quotient(const Node& n, const Form& quotient, int bits);
  // The possible integers of a source with `bits` bits; all integers of its type if no more is
  // known.
  Range operand_range(const Node& n, int source, int bits, bool is_signed);
  // The possible integers that the operation at `pc` reads from `slot` under the conditions
  // `where`. Examines the operands of selp and conversions again.
  Range range_where(program::Slot slot, std::uint32_t pc, int bits, const Conditions& where,
                    int depth = 0);
  std::optional<Fact> fact_of_edge(int from, int to) const;
  void take_apart(const Fact& fact, std::vector<Fact>& facts, int depth = 0);
  std::optional<Form> special(const program::Op& op) const;
  std::optional<std::int64_t> step(int node, int joined, int bits, int depth);
  std::optional<Form> extended(const std::optional<Form>& form, std::uint32_t pc, bool is_signed,
                               int bits);
  std::vector<Fact> facts_of(int block) const;
  Conditions of_block(int block);
  void assume(const Fact& fact, Conditions& conditions, int depth = 0);
  void compare(const program::Op& op, std::uint32_t pc, bool holds, Conditions& conditions);
  static void below_without_sign(const Form& a, const Range& of_a, const Form& b, const Range& of_b,
                                 const program::Meaning& m, bool holds, Conditions& conditions);
  bool is_uniform(program::Slot slot, std::uint32_t pc, int block, int depth = 0);
  // Whether the form depends on nothing that changes while the loop runs.
  bool is_fixed_in(const Form& form, const Loop& loop) const;
  // Bounds the number of a loop's jumps back, and so its counter.
  void bound_loop(int loop);

  Graph& graph_;
  const Shape& shape_;
  const std::size_t threads_;
  std::vector<Range> symbols_;
  // By data symbol: forms that are at most 0 wherever something depends on the symbol.
  std::map<Symbol, std::vector<Form>> always_;
  std::vector<int> data_blocks_;  // by data symbol, in order: the block that computes it
  std::vector<std::vector<Form>>
      of_loop_;  // by loop: forms that are at most 0 wherever its counter is used
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states_;
  // The values under evaluation, each required by the next. A value deeper than this is unknown, so
  // that a long chain of operations does not overflow the stack.
  static constexpr int kDeepest = 200;
  int depth_ = 0;
  std::vector<std::optional<Form>> values_;
  std::vector<State> block_states_;
  std::vector<Conditions> blocks_;
};

}  // namespace lockstep::proof
