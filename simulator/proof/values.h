// The values of a kernel at a launch with known parameters and shape.
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

// Everything that a proof depends on, except the kernel.
struct Shape {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::span<const std::byte> parameters;
  std::uint64_t shared_window = 0;  // where generic addresses of shared memory begin

  std::size_t threads() const { return std::size_t{block[0]} * block[1] * block[2]; }
};

class Values {
 public:
  Values(Graph& graph, const Shape& shape);

  // The value that the operation at `pc` reads from `slot`, a register or constant of `bits` bits
  // (1: a predicate). nullopt: unknown, such as loaded data.
  std::optional<Form> source(program::Slot slot, std::uint32_t pc, int bits);
  // The conditions that hold whenever a thread executes the operation at `pc`, its guard included.
  Conditions conditions(std::uint32_t pc);
  // Whether the threads of a block that execute the branch at the end of `block` together all take
  // the same direction.
  bool branches_together(int block);
  // The branches and exits at which all threads that reach them behave alike.
  Decided decided();
  // Whether the symbol stands for a value of which only a range is known, such as loaded data.
  bool is_data(Symbol s) const { return s >= kFirstLoop + static_cast<int>(of_loop_.size()); }
  std::span<const Range> symbols() const { return symbols_; }
  // The least and the greatest integer that the form may have if `where` holds.
  Range range(const Form& form, const Conditions& where) const;
  std::size_t threads() const { return threads_; }

 private:
  // A predicate whose value is `holds` when the condition is met.
  struct Fact {
    program::Slot slot = program::kNoSlot;
    std::uint32_t pc = 0;  // of the operation that reads it
    bool holds = true;
  };
  // A value from a path or an operand, and the threads that may have it.
  struct Way {
    std::optional<Form> form;
    Conditions where;
    std::optional<Range> range;  // if more is known than the form shows
  };
  std::optional<Form> evaluate(int node);
  std::optional<Form> compute(const Node& n);
  std::optional<Form> compute_predicate(const Node& n);
  std::optional<Form> shifted(const Node& n, int bits);  // shl, shr
  std::optional<Form> compared_by_range(const Form& a, const Form& b, std::uint32_t pc, int bits);
  std::optional<Form> join(int node);
  std::optional<Form> selected(const Node& n);  // what is written under a predicate
  std::optional<Form> chosen(const Node& n);    // selp
  std::optional<Form> merged(std::vector<Way> ways, int block);
  // A value of which only bounds are known.
  std::optional<Form> bounded(const Node& n);
  std::optional<Range> result_range(const Node& n, int bits);
  std::optional<Form> data_within(const Range& range, int bits, int block, std::int64_t unit = 1);
  Symbol new_data(Wide most, int block);
  void relate_quotient(const Node& n, const Form& quotient, int bits);
  // The integers that a source of `bits` bits may have; its whole type if nothing more is known.
  Range operand_range(const Node& n, int source, int bits, bool is_signed);
  // The integers that the operation at `pc` may read from `slot` if `where` holds. Examines the
  // operands of selp and conversions again.
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
  // Whether everything that the form depends on is constant while the loop runs.
  bool is_fixed_in(const Form& form, const Loop& loop) const;
  // Bounds the number of times that a loop jumps back, and thereby its counter.
  void bound_loop(int loop);

  Graph& graph_;
  const Shape& shape_;
  const std::size_t threads_;
  std::vector<Range> symbols_;
  // By data symbol: forms that are at most 0 wherever a value depends on the symbol.
  std::map<Symbol, std::vector<Form>> always_;
  std::vector<int> data_blocks_;  // for the data symbols, in order: the blocks that compute them
  std::vector<std::vector<Form>>
      of_loop_;  // by loop: forms that are at most 0 wherever its counter is valid
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states_;
  // The depth of nested evaluations. Deeper values count as unknown, so that a long chain of
  // operations does not overflow the stack.
  static constexpr int kDeepest = 200;
  int depth_ = 0;
  std::vector<std::optional<Form>> values_;
  std::vector<State> block_states_;
  std::vector<Conditions> blocks_;
};

}  // namespace lockstep::proof
