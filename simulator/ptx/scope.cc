#include "simulator/ptx/scope.h"

#include <utility>

namespace lockstep::ptx {
namespace {

struct Numbered {
  std::string_view prefix;
  std::uint32_t number = 0;
};

// "%rd12" -> {"%rd", 12}. Nothing for names without a number, or with leading zeros, which a
// register range does not have.
std::optional<Numbered> split_number(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const std::size_t count = name.size() - digits;
  if (digits == 0 || count == 0 || count > 9 || (count > 1 && name[digits] == '0'))
    return std::nullopt;
  std::uint32_t number = 0;
  for (std::size_t i = digits; i < name.size(); ++i)
    number = number * 10 + static_cast<std::uint32_t>(name[i] - '0');
  return Numbered{name.substr(0, digits), number};
}

}  // namespace

std::vector<Scopes::Pending> Scopes::close(std::vector<Instruction>& body) {
  Block block = std::move(blocks_.back());
  blocks_.pop_back();
  std::vector<Pending> unresolved;
  auto resolve = [&](const Pending& p) {
    Operand& operand = body[p.instruction].operands[p.operand];
    if (const auto list = block.targets.find(p.label);
        operand.kind == Operand::Kind::kList && p.element < 0) {
      if (list == block.targets.end()) return false;
      // Looks up each of the list's labels, from this block outwards.
      operand.elements.resize(list->second.size());
      for (std::size_t i = 0; i < list->second.size(); ++i) {
        Pending each = p;
        each.element = static_cast<int>(i);
        each.label = list->second[i];
        block.pending.push_back(each);
      }
      return true;
    }
    const auto found = block.labels.find(p.label);
    if (found == block.labels.end()) return false;
    Operand& target =
        p.element < 0 ? operand : operand.elements[static_cast<std::size_t>(p.element)];
    target.kind = Operand::Kind::kLabel;
    target.index = found->second;
    return true;
  };
  for (std::size_t i = 0; i < block.pending.size(); ++i) {  // resolve() may append
    const Pending p = block.pending[i];
    if (!resolve(p)) unresolved.push_back(p);
  }
  if (blocks_.empty()) return unresolved;
  auto& outer = blocks_.back().pending;
  outer.insert(outer.end(), unresolved.begin(), unresolved.end());
  return {};
}

bool Scopes::add_register(std::string_view name, std::uint32_t index) {
  return blocks_.back().registers.emplace(name, index).second;
}

bool Scopes::add_register_range(std::string_view prefix, std::uint32_t first, std::uint32_t count) {
  return blocks_.back().ranges.emplace(prefix, Range{first, count}).second;
}

bool Scopes::add_variable(std::string_view name, std::string renamed) {
  return blocks_.back().variables.emplace(name, std::move(renamed)).second;
}

bool Scopes::add_label(std::string_view name, std::uint32_t instruction) {
  return blocks_.back().labels.emplace(name, instruction).second;
}

bool Scopes::add_targets(std::string_view name, std::vector<std::string_view> labels) {
  return blocks_.back().targets.emplace(name, std::move(labels)).second;
}

std::optional<std::uint32_t> Scopes::find_register(std::string_view name) const {
  const auto numbered = split_number(name);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (numbered) {
      const auto range = block->ranges.find(numbered->prefix);
      if (range != block->ranges.end() && numbered->number < range->second.count)
        return range->second.first + numbered->number;
    }
    if (const auto found = block->registers.find(name); found != block->registers.end())
      return found->second;
  }
  return std::nullopt;
}

const std::string* Scopes::find_variable(std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
    if (const auto found = block->variables.find(name); found != block->variables.end())
      return &found->second;
  return nullptr;
}

}  // namespace lockstep::ptx
