// A compiled kernel as a graph of blocks and values, the basis of proofs before a launch.
//
// Every value that an operation reads has one node (static single assignment): the result of an
// operation, or a join of the values of several paths.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "simulator/program/program.h"

namespace lockstep::proof {

struct Block {
  std::uint32_t begin = 0, end = 0;  // operations
  std::vector<int> before, after;    // neighbours in the graph
  int dominator = -1;                // the immediate dominator; itself for the entry
  int post_dominator = -1;           // the immediate one; -1: the kernel's end, or unknown
  int loop = -1;                     // the innermost loop that contains it
};

struct Loop {
  int header = -1;
  int latch = -1;           // the block that jumps back; -1 if there are several
  int outer = -1;           // the enclosing loop
  std::vector<bool> holds;  // by block
};

struct Node {
  enum class Kind : std::uint8_t { kUnknown, kOperation, kSelect, kJoin };
  Kind kind = Kind::kUnknown;
  std::uint32_t pc = 0;  // kOperation, kSelect
  int block = -1;
  program::Slot slot = 0;  // kJoin: of the register
  std::vector<int> from;   // kJoin: by Block::before. kSelect: new value, old value
};

// Predicated branches and exits that a launch decides: by pc, whether every thread that reaches it
// takes it, or no thread does.
using Decided = std::map<std::uint32_t, bool>;

class Graph {
 public:
  // nullptr if the kernel calls functions, branches through tables, has a loop with two entries, or
  // is too large. Leaves out code that no thread of the launch executes.
  static std::unique_ptr<Graph> make(const program::Program& program,
                                     const program::Function& kernel, const Decided& decided = {});

  const program::Program& program() const { return program_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Loop>& loops() const { return loops_; }
  const std::vector<int>& order() const { return order_; }  // blocks, each after its dominators
  int block_of(std::uint32_t pc) const { return block_of_[pc - begin_]; }
  bool dominates(int a, int b) const;
  // Whether a path from the kernel's entry reaches the block.
  bool is_reached(int block) const {
    return blocks_[static_cast<std::size_t>(block)].dominator >= 0;
  }
  // Whether a path from the end of `from` to `to` avoids `without`.
  bool leads(int from, int to, int without) const;
  // The node that the operation at `pc` reads from a register.
  int read(program::Slot slot, std::uint32_t pc);
  // The node whose value a join has on every path; the node itself if there are several.
  int origin(int node);
  const Node& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  explicit Graph(const program::Program& program) : program_(program) {}
  bool cut(const program::Function& kernel, const Decided& decided);
  void join_blocks(const Decided& decided);
  void drop_unreached();
  bool find_loops();
  void find_definitions();
  int add(Node node);
  int at_end(program::Slot slot, int block);
  int at_begin(program::Slot slot, int block);

  const program::Program& program_;
  std::uint32_t begin_ = 0, end_ = 0;
  std::vector<Block> blocks_;
  std::vector<Loop> loops_;
  std::vector<int> order_, block_of_;
  std::vector<Node> nodes_;
  // By block and register: the operations that write the register, in order, with their nodes.
  std::vector<std::map<program::Slot, std::vector<std::pair<std::uint32_t, int>>>> writes_;
  std::map<std::pair<int, program::Slot>, int> begins_;
  std::map<int, int> origins_;  // of joins
};

}  // namespace lockstep::proof
