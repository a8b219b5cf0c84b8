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
  const Category c = isa::category_of(i.opcode);
  return isa::computes(c) && c != Category::kCarry;
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

// Registers that may depend on what a thread has loaded or received.
std::set<std::uint32_t> loaded_registers(const ptx::Function& function) {
  std::set<std::uint32_t> loaded;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction& i : function.body) {
      const bool parameter =
          i.opcode == Opcode::k_ld && i.modifiers.space == ptx::Space::kParam && function.is_kernel;
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

// The registers that depend on an instruction's result through computations, but for those in
// `without`.
std::set<std::uint32_t> derived_from(const ptx::Function& function, std::uint32_t result,
                                     const std::set<std::uint32_t>& without) {
  std::set<std::uint32_t> derived = {result};
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction& i : function.body) {
      const auto writes = result_of(i);
      if (!writes || derived.contains(*writes) || without.contains(*writes)) continue;
      const std::set<std::uint32_t> sources = sources_of(i);
      if (std::any_of(sources.begin(), sources.end(),
                      [&](std::uint32_t r) { return derived.contains(r); }))
        grows |= derived.insert(*writes).second;
    }
  }
  return derived;
}

bool is_comparable(Type type) {
  const int bytes = isa::size_of(type);
  return type == Type::kPred || bytes == 2 || bytes == 4 || bytes == 8;
}

// "b32", "pred".
std::string suffix_of(Type type) {
  return type == Type::kPred ? "pred" : "b" + std::to_string(8 * isa::size_of(type));
}

// More registers follow from most values that matter; such mutants do not survive.
constexpr std::size_t kMostDerived = 100;

class Watching {
 public:
  Watching(const ptx::Module& module, std::uint32_t function, std::span<const Place> places)
      : module_(module), from_(module.functions[function]), loaded_(loaded_registers(from_)) {
    result_.mutants.resize(places.size());
    for (std::size_t n = 0; n < places.size(); ++n) begin_mutant(n, places[n]);
    to_.body.clear();
    std::vector<std::uint32_t> begins;
    for (std::uint32_t index = 0; index < from_.body.size(); ++index) {
      begins.push_back(size());
      add(index);
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
  // A mutant of a computation. `values`: of the registers that it may change, by register of the
  // original. If only the instruction's own value is watched, that is its result alone.
  struct Computed {
    std::size_t number = 0;
    std::uint32_t place = 0;
    bool only_result = false;
    std::vector<Instruction> instead;
    std::map<std::uint32_t, Operand> values;
    bool has(std::uint32_t reg) const { return values.contains(reg); }
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(to_.body.size()); }
  Operand fresh(Type type) {
    to_.registers.push_back({"%watched", type});
    return register_operand(static_cast<std::uint32_t>(to_.registers.size() - 1));
  }
  Type type_of(std::uint32_t reg) const { return from_.registers[reg].type; }

  void begin_mutant(std::size_t number, const Place& place) {
    if (place.instruction >= from_.body.size()) return;
    std::vector<Edit> edits = edits_of({module_, from_, place.instruction});
    if (place.edit >= edits.size()) return;
    Edit& edit = edits[place.edit];
    const Instruction& original = from_.body[place.instruction];
    if (edit.op == Operator::kGuardRemoved) {
      ptx::Guard guard = original.guard;
      if (!edit.instead.empty()) guard.negated = !guard.negated;  // the threads that it left out
      guards_[place.instruction].emplace_back(number, guard);
      result_.mutants[number].keeps_initialisation = true;
      return;
    }
    const auto result = result_of(original);
    if (!result || !is_comparable(type_of(*result)) || !computes(edit, *result)) return;
    Computed c;
    c.number = number;
    c.place = place.instruction;
    const std::set<std::uint32_t> derived = derived_from(from_, *result, loaded_);
    const bool all_initialised =
        is_free(original) && std::all_of(edit.instead.begin(), edit.instead.end(),
                                         [&](const Instruction& i) { return is_free(i); });
    c.only_result = !all_initialised || loaded_.contains(*result) ||
                    derived.size() > kMostDerived ||
                    std::any_of(derived.begin(), derived.end(),
                                [&](std::uint32_t r) { return !is_comparable(type_of(r)); });
    if (c.only_result && original.guard.present && original.guard.index == *result) return;
    result_.mutants[number].keeps_initialisation =
        all_initialised || has_same_sources(original, edit);
    take_edit(std::move(edit), c.only_result ? std::set{*result} : derived, *result, &c);
    computed_.push_back(std::move(c));
  }

  // Whether the edit only computes another value of the register.
  bool computes(const Edit& edit, std::uint32_t result) const {
    if (edit.instead.empty() || edit.removes_sharing) return false;
    for (std::size_t k = 0; k < edit.instead.size(); ++k) {
      const auto writes = result_of(edit.instead[k]);
      const bool last = k + 1 == edit.instead.size();
      if (!writes || (last ? *writes != result : *writes < from_.registers.size())) return false;
    }
    return true;
  }

  bool is_free(const Instruction& i) const {
    const std::set<std::uint32_t> sources = sources_of(i);
    return std::none_of(sources.begin(), sources.end(),
                        [&](std::uint32_t r) { return loaded_.contains(r); });
  }

  static bool has_same_sources(const Instruction& original, const Edit& edit) {
    return edit.instead.size() == 1 && derives_from_all(original) &&
           derives_from_all(edit.instead[0]) && sources_of(original) == sources_of(edit.instead[0]);
  }

  void take_edit(Edit edit, const std::set<std::uint32_t>& registers, std::uint32_t result,
                 Computed* c) {
    const auto before = static_cast<std::uint32_t>(from_.registers.size()),
               own = static_cast<std::uint32_t>(to_.registers.size());
    std::move(edit.registers.begin(), edit.registers.end(), std::back_inserter(to_.registers));
    for (const std::uint32_t r : registers) c->values.emplace(r, fresh(type_of(r)));
    for (Instruction& i : edit.instead) {
      for (Operand& o : i.operands) renumber(o, before, own - before);
    }
    edit.instead.back().operands[0] = register_operand(result);  // replaced as all of them are
    c->instead = std::move(edit.instead);
  }

  void add(std::uint32_t index) {
    if (const auto it = guards_.find(index); it != guards_.end()) {
      for (const auto& [number, guard] : it->second) signal(index, number, guard);
    }
    for (const Computed& c : computed_) add_before(index, c);
    result_.now.push_back(size());
    to_.body.push_back(from_.body[index]);
    for (const Computed& c : computed_) add_behind(index, c);
  }

  void add_before(std::uint32_t index, const Computed& c) {
    const Instruction& original = from_.body[index];
    const bool is_own = index == c.place;
    if (c.only_result && !is_own) return;
    if (!c.only_result && original.guard.present && c.has(original.guard.index))
      compare(index, c, original.guard.index, {});
    if (is_own) {
      for (const Instruction& i : c.instead) add_with_values(i, c);
    } else if (const auto writes = result_of(original); writes && c.has(*writes)) {
      add_with_values(original, c);
    } else {
      for (const std::uint32_t r : sources_of(original)) {
        const bool is_guard = original.guard.present && original.guard.index == r;
        if (c.has(r) && !is_guard) compare(index, c, r, original.guard);
      }
    }
  }

  void add_behind(std::uint32_t index, const Computed& c) {
    const Instruction& original = from_.body[index];
    if (c.only_result) {
      if (index == c.place) compare(index, c, c.values.begin()->first, original.guard);
      return;
    }
    if (index == c.place || result_of(original)) return;
    for (const ptx::RegisterAccess& a : ptx::register_accesses(original)) {
      if (a.writes && c.has(a.index))
        to_.body.push_back(make(index, "mov." + suffix_of(type_of(a.index)),
                                {c.values.at(a.index), register_operand(a.index)}, original.guard));
    }
  }

  // An instruction with the mutant's values of its registers.
  void add_with_values(Instruction i, const Computed& c) {
    const auto replace = [&](auto& self, Operand& o) -> void {
      const bool of_register =
          o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kNegatedPredicate;
      if (of_register && c.has(o.index)) o.index = c.values.at(o.index).index;
      for (Operand& e : o.elements) self(self, e);
    };
    const bool only_result = c.only_result;
    for (std::size_t n = 0; n < i.operands.size(); ++n) {
      if (n == 0 || !only_result) replace(replace, i.operands[n]);
    }
    to_.body.push_back(std::move(i));
  }

  Instruction make(std::uint32_t index, const std::string& opcode, std::vector<Operand> operands,
                   ptx::Guard guard) const {
    Instruction i =
        with_opcode({module_, from_, index, &to_.registers}, opcode, std::move(operands)).value();
    i.guard = guard;
    return i;
  }

  // An instruction without an effect, of threads in which the mutant differs.
  void signal(std::uint32_t index, std::size_t number, ptx::Guard guard) {
    result_.mutants[number].signals.push_back(size());
    to_.body.push_back(make(index, "mov.u32", {fresh(Type::kU32), integer_operand(0)}, guard));
  }

  // Compares the mutant's value of a register with the original's, in the threads of the guard.
  void compare(std::uint32_t index, const Computed& c, std::uint32_t reg, ptx::Guard guard) {
    const Operand differs = fresh(Type::kPred);
    if (guard.present) {
      const Operand zero = fresh(Type::kU32);
      to_.body.push_back(make(index, "mov.u32", {zero, integer_operand(0)}, {}));
      to_.body.push_back(make(index, "setp.ne.u32", {differs, zero, integer_operand(0)}, {}));
    }
    const Type type = type_of(reg);
    to_.body.push_back(make(index, type == Type::kPred ? "xor.pred" : "setp.ne." + suffix_of(type),
                            {differs, c.values.at(reg), register_operand(reg)}, guard));
    signal(index, c.number, {true, false, differs.index});
  }

  const ptx::Module& module_;
  const ptx::Function& from_;
  const std::set<std::uint32_t> loaded_;
  ptx::Function to_ = from_;
  std::vector<Computed> computed_;
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, ptx::Guard>>> guards_;
  Watched result_;
};

}  // namespace

Watched watch(const ptx::Module& module, std::uint32_t function, std::span<const Place> places) {
  const bool none = reads_clock(module.functions[function]);
  Watched watched = Watching(module, function, none ? std::span<const Place>() : places).result();
  watched.mutants.resize(places.size());
  return watched;
}

}  // namespace lockstep::mutation
