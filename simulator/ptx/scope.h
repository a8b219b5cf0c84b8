// The names that are visible in a function's nested blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// A stack of blocks, innermost last. Names are views into the PTX text.
class Scopes {
 public:
  // A branch target that is not yet known. `element` is the position within an operand list, or -1.
  struct Pending {
    std::size_t instruction = 0;
    std::size_t operand = 0;
    int element = -1;
    std::string_view label;
    int line = 0;
  };

  void open() { blocks_.emplace_back(); }
  // Closes the innermost block. Resolves its targets in `body` and passes the others to the
  // enclosing block. Returns the targets that no block can resolve.
  std::vector<Pending> close(std::vector<Instruction>& body);
  std::size_t depth() const { return blocks_.size(); }

  // False if the innermost block already has the name.
  bool add_register(std::string_view name, std::uint32_t index);
  bool add_register_range(std::string_view prefix, std::uint32_t first, std::uint32_t count);
  bool add_variable(std::string_view name, std::string renamed);
  bool add_label(std::string_view name, std::uint32_t instruction);
  bool add_targets(std::string_view name, std::vector<std::string_view> labels);
  void add_pending(Pending p) { blocks_.back().pending.push_back(p); }

  std::optional<std::uint32_t> find_register(std::string_view name) const;
  const std::string* find_variable(std::string_view name) const;

 private:
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  struct Block {
    std::unordered_map<std::string_view, std::uint32_t> registers;
    std::unordered_map<std::string_view, Range> ranges;  // %r<10>: by "%r"
    std::unordered_map<std::string_view, std::string> variables;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
    std::vector<Pending> pending;
  };
  std::vector<Block> blocks_;
};

}  // namespace lockstep::ptx
