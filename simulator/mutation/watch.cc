#include "simulator/mutation/watch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "simulator/mutation/edit.h"
#include "simulator/ptx/effects.h"

namespace lockstep::mutation {
namespace {

using isa::Category;
using isa::Opcode;
using isa::SpecialRegister;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

bool is_pure(const Instruction& i) {
  if (i.row == nullptr || i.modifiers.carry_out || i.modifiers.carry_in) return false;
  switch (isa::category_of(i.opcode)) {
    case Category::kArithmetic:
    case Category::kIntegerArithmetic:
    case Category::kApproximate:
    case Category::kBits:
    case Category::kCompare:
    case Category::kMove:
    case Category::kConvert:
    case Category::kVideo: return true;
    default: return false;
  }
}

bool is_clock(const Operand& o) {
  if (o.kind != Operand::Kind::kSpecialRegister)
    return std::any_of(o.elements.begin(), o.elements.end(), is_clock);
  return o.special >= SpecialRegister::kClock && o.special <= SpecialRegister::kGlobaltimerHi;
}

// Additional instructions would change the values of clocks.
bool reads_clock(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(), [](const Instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(), is_clock);
  });
}

// The only register that a computation writes.
std::optional<std::uint32_t> result_of(const Instruction& i) {
  if (!is_pure(i) || i.operands.empty() || i.operands[0].kind != Operand::Kind::kRegister)
    return std::nullopt;
  const std::vector<ptx::RegisterAccess> accesses = ptx::register_accesses(i);
  const auto writes = std::count_if(accesses.begin(), accesses.end(),
                                    [](const ptx::RegisterAccess& a) { return a.writes; });
  const bool first = std::any_of(accesses.begin(), accesses.end(), [&](const auto& a) {
    return a.writes && a.index == i.operands[0].index;
  });
  if (writes != 1 || !first) return std::nullopt;
  return i.operands[0].index;
}

void renumber(Operand& o, std::uint32_t first, std::uint32_t by) {
  const bool of_register = o.kind == Operand::Kind::kRegister ||
                           o.kind == Operand::Kind::kNegatedPredicate ||
                           (o.kind == Operand::Kind::kAddress && o.has_register);
  if (of_register && o.index >= first) o.index += by;
  for (Operand& e : o.elements) renumber(e, first, by);
}

void move_labels(Operand& o, const std::vector<std::uint32_t>& begins) {
  if (o.kind == Operand::Kind::kLabel) o.index = begins.at(o.index);
  for (Operand& e : o.elements) move_labels(e, begins);
}

class Watching {
 public:
  Watching(const ptx::Module& module, std::uint32_t function, std::span<const Place> places)
      : module_(module), from_(module.functions[function]) {
    result_.signals.assign(places.size(), Watched::kNone);
    for (std::size_t n = 0; n < places.size(); ++n) by_[places[n].instruction].push_back(n);
    to_.body.clear();
    std::vector<std::uint32_t> begins;
    for (std::uint32_t index = 0; index < from_.body.size(); ++index) {
      begins.push_back(size());
      if (const auto it = by_.find(index); it != by_.end()) {
        add_watched(index, it->second, places);
      } else {
        add_original(index);
      }
    }
    begins.push_back(size());
    for (Instruction& i : to_.body)
      for (Operand& o : i.operands) move_labels(o, begins);
  }

  Watched result() && {
    result_.function = std::move(to_);
    return std::move(result_);
  }

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(to_.body.size()); }
  void add_original(std::uint32_t index) {
    result_.now.push_back(size());
    to_.body.push_back(from_.body[index]);
  }
  Operand fresh(Type type) {
    to_.registers.push_back({"%watched", type});
    return register_operand(static_cast<std::uint32_t>(to_.registers.size() - 1));
  }
  Instruction make(std::uint32_t index, const std::string& opcode, std::vector<Operand> operands,
                   ptx::Guard guard) const {
    Instruction i =
        with_opcode({module_, from_, index, &to_.registers}, opcode, std::move(operands)).value();
    i.guard = guard;
    return i;
  }
  // An instruction without an effect.
  Instruction signal(std::uint32_t index, ptx::Guard guard) {
    return make(index, "mov.u32", {fresh(Type::kU32), integer_operand(0)}, guard);
  }

  void add_watched(std::uint32_t index, const std::vector<std::size_t>& mutants,
                   std::span<const Place> places) {
    std::vector<Edit> edits = edits_of({module_, from_, index});
    std::vector<std::pair<std::size_t, Operand>> values;  // of mutants
    for (const std::size_t n : mutants) {
      if (places[n].edit >= edits.size()) continue;
      Edit& edit = edits[places[n].edit];
      if (edit.op == Operator::kGuardRemoved) {
        ptx::Guard guard = from_.body[index].guard;
        if (!edit.instead.empty()) guard.negated = !guard.negated;  // the threads that it left out
        result_.signals[n] = size();
        to_.body.push_back(signal(index, guard));
      } else if (const auto value = compute(index, edit)) {
        values.emplace_back(n, *value);
      }
    }
    add_original(index);
    for (const auto& [n, value] : values) compare(index, n, value);
  }

  // Adds the mutant's computation. Returns its result; nullopt if it cannot be watched.
  std::optional<Operand> compute(std::uint32_t index, Edit& edit) {
    const Instruction& original = from_.body[index];
    const auto result = result_of(original);
    if (!result || edit.instead.empty() || edit.removes_sharing) return std::nullopt;
    const Type type = from_.registers[*result].type;
    const bool comparable = type == Type::kPred || isa::size_of(type) == 2 ||
                            isa::size_of(type) == 4 || isa::size_of(type) == 8;
    if (!comparable || (original.guard.present && original.guard.index == *result))
      return std::nullopt;
    const auto before = static_cast<std::uint32_t>(from_.registers.size());
    const auto own = static_cast<std::uint32_t>(to_.registers.size());
    for (std::size_t k = 0; k < edit.instead.size(); ++k) {
      const auto writes = result_of(edit.instead[k]);
      const bool last = k + 1 == edit.instead.size();
      if (!writes || (last ? *writes != *result : *writes < before)) return std::nullopt;
    }
    std::move(edit.registers.begin(), edit.registers.end(), std::back_inserter(to_.registers));
    const Operand value = fresh(type);
    for (Instruction& i : edit.instead) {
      for (Operand& o : i.operands) renumber(o, before, own - before);
    }
    edit.instead.back().operands[0] = value;
    std::move(edit.instead.begin(), edit.instead.end(), std::back_inserter(to_.body));
    return value;
  }

  // Compares a mutant's value with the original's, behind the original.
  void compare(std::uint32_t index, std::size_t mutant, const Operand& value) {
    const Operand& result = from_.body[index].operands[0];
    const Type type = from_.registers[result.index].type;
    const Operand other = fresh(Type::kPred);
    const ptx::Guard guard = from_.body[index].guard;
    // Threads that a guard leaves out compute nothing.
    if (guard.present)
      to_.body.push_back(
          make(index, "setp.ne.u32", {other, zero(index), integer_operand(0)}, ptx::Guard{}));
    if (type == Type::kPred) {
      to_.body.push_back(make(index, "xor.pred", {other, value, result}, guard));
    } else {
      const std::string bits = std::to_string(8 * isa::size_of(type));
      to_.body.push_back(make(index, "setp.ne.b" + bits, {other, value, result}, guard));
    }
    result_.signals[mutant] = size();
    to_.body.push_back(signal(index, {true, false, other.index}));
  }

  // A register that holds zero.
  Operand zero(std::uint32_t index) {
    const Operand zero = fresh(Type::kU32);
    to_.body.push_back(make(index, "mov.u32", {zero, integer_operand(0)}, ptx::Guard{}));
    return zero;
  }

  const ptx::Module& module_;
  const ptx::Function& from_;
  ptx::Function to_ = from_;
  std::map<std::uint32_t, std::vector<std::size_t>> by_;  // mutants by instruction
  Watched result_;
};

// Registers that may depend on what a thread has loaded or received.
std::set<std::uint32_t> loaded_registers(const ptx::Function& function) {
  std::set<std::uint32_t> loaded;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction& i : function.body) {
      const bool parameter = i.opcode == Opcode::k_ld && i.modifiers.space == ptx::Space::kParam &&
                             function.is_kernel;
      bool from_loaded = !is_pure(i) && !parameter;
      for (const ptx::RegisterAccess& a : ptx::register_accesses(i)) {
        if (!a.writes) from_loaded |= loaded.contains(a.index);
        if (a.writes && from_loaded) grows |= loaded.insert(a.index).second;
      }
    }
  }
  return loaded;
}

std::set<std::uint32_t> sources_of(const Instruction& i) {
  std::set<std::uint32_t> sources;
  for (const ptx::RegisterAccess& a : ptx::register_accesses(i))
    if (!a.writes) sources.insert(a.index);
  return sources;
}

// Whether any uninitialised bit of a source makes the whole result uninitialised.
bool derives_from_all(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul:
    case Opcode::k_mad:
    case Opcode::k_fma:
    case Opcode::k_div:
    case Opcode::k_rem: return true;
    default: return false;
  }
}

}  // namespace

Watched watch(const ptx::Module& module, std::uint32_t function, std::span<const Place> places) {
  if (reads_clock(module.functions[function])) places = {};
  return Watching(module, function, places).result();
}

bool keeps_initialisation(const ptx::Module& module, const Place& place) {
  const ptx::Function& f = module.functions.at(place.function);
  const Instruction& original = f.body.at(place.instruction);
  const std::vector<Edit> edits = edits_of({module, f, place.instruction});
  if (place.edit >= edits.size()) return false;
  const Edit& edit = edits[place.edit];
  if (edit.op == Operator::kGuardRemoved) return true;  // the same threads do the same
  if (edit.instead.size() == 1 && derives_from_all(original) && derives_from_all(edit.instead[0]) &&
      sources_of(original) == sources_of(edit.instead[0]))
    return true;
  const std::set<std::uint32_t> loaded = loaded_registers(f);
  const auto is_free = [&](const Instruction& i) {
    const std::set<std::uint32_t> sources = sources_of(i);
    return std::none_of(sources.begin(), sources.end(),
                        [&](std::uint32_t r) { return loaded.contains(r); });
  };
  return is_free(original) && std::all_of(edit.instead.begin(), edit.instead.end(), is_free);
}

}  // namespace lockstep::mutation
