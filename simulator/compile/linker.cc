#include "simulator/compile/linker.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "simulator/compile/readable_name.h"

namespace lockstep::compile {

using isa::Space;
using program::kCodeBase;
using program::kCodeStep;
using ptx::Operand;

namespace {

// Statically sized variables share 64 KB (PTX ISA, constant state space). ptxas refuses more, and
// so does a driver.
constexpr std::uint64_t kConstantBytes = 65536;
// The first constant lies at this distance from the start of constant memory, so that a null
// pointer lies outside every variable.
constexpr std::uint64_t kConstantStart = 1024;
// All shared variables of a program with the gaps between them. A kernel of any device has some 227
// KB.
constexpr std::uint64_t kSharedBytes = 1u << 30;

}  // namespace

Linker::Linker(std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
               const program::ManagedVariables& managed, const program::PlacedVariables& placed)
    : modules_(modules),
      memory_(memory),
      device_(device),
      managed_(managed),
      placed_before_(placed) {}

void Linker::declare_shared(std::unordered_map<std::string, Symbol>& scope,
                            const ptx::Variable& v) {
  SharedVariable s;
  s.name = v.name;
  s.size = v.size;
  s.alignment = std::max(v.alignment, 1u);
  s.dynamic = v.is_extern || v.size == 0;
  shared_.push_back(s);
  scope[v.name] = {Symbol::Kind::kShared, static_cast<std::uint32_t>(shared_.size() - 1), nullptr};
}

std::optional<std::string> Linker::collect() {
  local_.resize(modules_.size());
  for (std::uint32_t m = 0; m < modules_.size(); ++m) {
    const ptx::Module& module = modules_[m];
    for (const ptx::Function& f : module.functions) {
      if (f.is_declaration) continue;
      if (f.is_weak && global_.contains(f.name)) continue;  // one of several equal definitions
      functions_.push_back({&module, &f, m});
      const Symbol symbol{Symbol::Kind::kFunction,
                          static_cast<std::uint32_t>(functions_.size() - 1), nullptr};
      local_[m][f.name] = symbol;
      if (f.is_visible || f.is_weak || f.is_kernel) global_[f.name] = symbol;
      for (const ptx::Instruction& i : f.body) has_pairs_ |= i.modifiers.cta_group == 2;
      for (const ptx::Variable& v : f.variables) {
        if (v.space == Space::kShared) declare_shared(scoped_[&f], v);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Linker::place(program::Program& program) {
  std::uint64_t constant_bytes = 0;
  const auto put =
      [&](std::uint32_t m, const ptx::Variable& v,
          std::unordered_map<std::string, Symbol>& scope) -> std::optional<std::string> {
    const bool shares = v.is_visible || v.is_weak;
    if (v.is_weak && global_.contains(v.name)) return std::nullopt;
    const bool constant = v.space == Space::kConst;
    const auto kind = constant       ? memory::Kind::kConstant
                      : v.is_managed ? memory::Kind::kManaged
                                     : memory::Kind::kVariable;
    const std::uint64_t size = std::max<std::uint64_t>(v.size, 1);
    if (constant) constant_bytes += v.size;
    if (constant_bytes > kConstantBytes) {
      return "the module's constant variables have " + std::to_string(constant_bytes) +
             " bytes; there are " + std::to_string(kConstantBytes);
    }
    const bool managed = kind == memory::Kind::kManaged && program.managed.size() < managed_.size();
    const bool known = managed || program.placed.size() < placed_before_.size();
    const memory::Allocation* a =
        managed ? managed_[program.managed.size()].get()
        : known ? placed_before_[program.placed.size()]
                : memory_.allocate(size, std::max<std::uint64_t>(256, v.alignment), kind, device_,
                                   variable_name(v.name));
    if (a == nullptr)
      return "no device memory for the variable '" + v.name + "' (" + std::to_string(v.size) +
             " bytes)";
    program.placed.push_back(a);
    placed_.push_back({m, &v, a, known});
    if (managed) {
      program.managed.push_back(managed_[program.managed.size()]);
    } else if (!known) {
      if (kind == memory::Kind::kManaged)
        program.managed.emplace_back(
            a, [&m = memory_](const memory::Allocation* old) { m.release(old->base); });
      if (!v.initial.empty())
        std::memcpy(memory_.host(*a, a->base), v.initial.data(),
                    std::min<std::size_t>(v.initial.size(), size));
      memory_.mark_written(a->base, size);
    }
    const Symbol symbol{Symbol::Kind::kVariable, 0, a};
    scope[v.name] = symbol;
    if (shares) global_[v.name] = symbol;
    program.variables.try_emplace(v.name, a);
    return std::nullopt;
  };
  const auto put_all = [&](Space space) -> std::optional<std::string> {
    for (std::uint32_t m = 0; m < modules_.size(); ++m) {
      for (const ptx::Variable& v : modules_[m].variables) {
        if (v.space != space || v.is_extern) continue;
        if (auto error = put(m, v, local_[m])) return error;
      }
    }
    for (const FunctionRef& f : functions_) {
      for (const ptx::Variable& v : f.function->variables) {
        if (v.space != space) continue;
        if (auto error = put(f.module_index, v, scoped_[f.function])) return error;
      }
    }
    return std::nullopt;
  };
  for (std::uint32_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Variable& v : modules_[m].variables) {
      // All names of dynamic shared memory refer to the same place. Shared variables of other
      // modules are looked up by name.
      if (v.space != Space::kShared || (v.is_extern && v.size != 0)) continue;
      declare_shared(local_[m], v);
      if (v.is_visible || v.is_weak) global_.try_emplace(v.name, local_[m][v.name]);
    }
  }
  // Places constants first, one after the other, so that 32-bit addresses reach them.
  if (auto error = put_all(Space::kConst)) return error;
  for (const memory::Allocation* a : program.placed)
    constant_base_ = std::min(constant_base_, a->base - kConstantStart);
  for (const memory::Allocation* a : program.placed) {
    if (a->base + a->size - constant_base_ > 1ull << 32)
      return "no room for the module's constant variables side by side";
  }
  if (auto error = put_all(Space::kGlobal)) return error;
  program.const_space_bytes = static_cast<std::uint32_t>(constant_bytes);
  for (const Pending& p : placed_) {
    if (p.known) continue;
    for (const ptx::Variable::Relocation& r : p.variable->relocations) {
      const Symbol* s = find(p.module, nullptr, r.symbol);
      if (s == nullptr)
        return "the initialiser of '" + p.variable->name + "' names '" + r.symbol +
               "', which nothing defines";
      std::uint64_t value =
          ((r.generic ? address(*s) : space_address(*s)) + static_cast<std::uint64_t>(r.addend)) &
          r.mask;
      if (r.mask != ~0ull && r.mask != 0) value >>= __builtin_ctzll(r.mask);
      std::memcpy(memory_.host(*p.allocation, p.allocation->base) + r.offset, &value, r.size);
    }
  }
  return std::nullopt;
}

const Symbol* Linker::find(std::uint32_t module, const ptx::Function* function,
                           const std::string& name) const {
  if (function != nullptr) {
    if (const auto scope = scoped_.find(function); scope != scoped_.end()) {
      if (const auto it = scope->second.find(name); it != scope->second.end()) return &it->second;
    }
  }
  if (const auto it = local_[module].find(name); it != local_[module].end()) return &it->second;
  const auto it = global_.find(name);
  return it == global_.end() ? nullptr : &it->second;
}

std::uint64_t Linker::address(const Symbol& s) const {
  switch (s.kind) {
    case Symbol::Kind::kFunction: return kCodeBase + kCodeStep * s.index;
    case Symbol::Kind::kShared: return shared_[s.index].begin;
    case Symbol::Kind::kVariable: return s.variable->base;
  }
  return 0;
}

std::uint64_t Linker::space_address(const Symbol& s) const {
  const bool constant =
      s.kind == Symbol::Kind::kVariable && s.variable->kind == memory::Kind::kConstant;
  return constant ? s.variable->base - constant_base_ : address(s);
}

void Linker::call_graph() {
  const std::size_t n = functions_.size();
  std::vector<std::set<std::uint32_t>> direct(n), shared(n);
  indirect_.assign(n, false);
  std::set<std::uint32_t> address_taken;
  for (const Pending& p : placed_) {
    for (const auto& r : p.variable->relocations) {
      const Symbol* s = find(p.module, nullptr, r.symbol);
      if (s != nullptr && s->kind == Symbol::Kind::kFunction) address_taken.insert(s->index);
    }
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const FunctionRef& f = functions_[i];
    for (const ptx::Instruction& instruction : f.function->body) {
      const bool call = instruction.opcode == isa::Opcode::k_call;
      const auto visit = [&](const auto& self, const Operand& o) -> void {
        if (!o.symbol.empty()) {
          if (const Symbol* s = find(f.module_index, f.function, o.symbol)) {
            if (s->kind == Symbol::Kind::kShared) shared[i].insert(s->index);
            if (s->kind == Symbol::Kind::kFunction) {
              if (call)
                direct[i].insert(s->index);
              else
                address_taken.insert(s->index);
            }
          }
        }
        for (const Operand& e : o.elements) self(self, e);
      };
      for (const Operand& o : instruction.operands) {
        if (call && o.kind == Operand::Kind::kRegister) indirect_[i] = true;
        visit(visit, o);
      }
    }
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (indirect_[i]) direct[i].insert(address_taken.begin(), address_taken.end());
  }
  callees_.assign(n, {});
  reaches_.assign(n, {});
  names_dynamic_.assign(n, false);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const std::uint32_t v : shared[i]) {
      if (shared_[v].dynamic) names_dynamic_[i] = true;
    }
  }
  recursive_.assign(n, false);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::set<std::uint32_t> seen{i}, variables;
    std::vector<std::uint32_t> todo{i};
    while (!todo.empty()) {
      const std::uint32_t f = todo.back();
      todo.pop_back();
      variables.insert(shared[f].begin(), shared[f].end());
      for (const std::uint32_t g : direct[f]) {
        if (g == i) recursive_[i] = true;
        if (seen.insert(g).second) todo.push_back(g);
      }
    }
    callees_[i].assign(seen.begin(), seen.end());
    reaches_[i].assign(variables.begin(), variables.end());
  }
}

// Gives each static shared variable one place in the whole program, so that its address is a
// constant. Two variables that no kernel uses together may share a place.
std::optional<std::string> Linker::lay_out_shared() {
  std::vector<std::vector<std::uint32_t>> kernels_of(shared_.size());
  for (std::uint32_t f = 0; f < functions_.size(); ++f) {
    if (!functions_[f].function->is_kernel) continue;
    for (const std::uint32_t v : reaches_[f]) kernels_of[v].push_back(f);
  }
  std::vector<std::uint64_t> end_of(functions_.size(), 0);  // by kernel
  for (std::uint32_t v = 0; v < shared_.size(); ++v) {
    SharedVariable& s = shared_[v];
    if (s.dynamic) continue;
    std::uint64_t at = program::kSharedStart;
    for (const std::uint32_t k : kernels_of[v]) {
      if (end_of[k] != 0) at = std::max(at, end_of[k] + program::kSharedGap);
    }
    const std::uint64_t alignment = std::max(s.alignment, 16u);
    at = (at + alignment - 1) / alignment * alignment;
    const std::uint64_t end = at + s.size;
    if (end > kSharedBytes) {
      return "no room for the shared variable '" + s.name + "' (" + std::to_string(s.size) +
             " bytes, aligned to " + std::to_string(s.alignment) + ")";
    }
    s.begin = static_cast<std::uint32_t>(at);
    for (const std::uint32_t k : kernels_of[v]) end_of[k] = end;
  }
  place_dynamic_shared(end_of);
  return std::nullopt;
}

// On a GPU, dynamic shared memory begins directly behind the kernel's static variables, with the
// alignment of its declaration. Code that relies on a larger alignment without requesting it fails
// there, and must fail here. So dynamic shared memory begins behind the static variables and a gap,
// at an address with the same remainder modulo kRemainders as on the GPU. A kernel without static
// variables has it at the start of shared memory.
//
// A function that several kernels call has one address for it. If the kernels' addresses differ, it
// begins at a multiple of kRemainders.
void Linker::place_dynamic_shared(const std::vector<std::uint64_t>& end_of) {
  constexpr std::uint64_t kRemainders = 1024, kLeastAlignment = 16;  // as nvcc declares it
  const std::size_t n = functions_.size();
  const auto up = [](std::uint64_t v, std::uint64_t to) { return (v + to - 1) / to * to; };
  // Kernels that call the same function which names it must have it at the same place.
  std::vector<std::uint32_t> same_as(n);
  std::iota(same_as.begin(), same_as.end(), 0u);
  const auto root = [&](std::uint32_t f) {
    while (same_as[f] != f) f = same_as[f];
    return f;
  };
  for (std::uint32_t k = 0; k < n; ++k) {
    if (!functions_[k].function->is_kernel) continue;
    for (const std::uint32_t f : callees_[k]) {
      if (names_dynamic_[f]) same_as[root(f)] = root(k);
    }
  }
  struct Place {
    std::uint64_t behind = 0;  // end of the static variables, with their gaps
    std::uint64_t on_a_gpu = 0, remainders = kRemainders;
    bool several = false;
  };
  std::vector<Place> places(n);
  for (std::uint32_t k = 0; k < n; ++k) {
    if (!functions_[k].function->is_kernel) continue;
    std::uint64_t alignment = kLeastAlignment, bytes = 0;
    for (const std::uint32_t v : reaches_[k]) {
      const SharedVariable& s = shared_[v];
      if (s.dynamic) {
        alignment = std::max<std::uint64_t>(alignment, s.alignment);
      } else {
        bytes = up(bytes, s.alignment) + s.size;
      }
    }
    Place& place = places[root(k)];
    place.behind = std::max(place.behind, end_of[k]);
    place.remainders = std::max(place.remainders, alignment);
    const std::uint64_t there = program::kSharedStart + up(bytes, alignment);
    place.several |= place.on_a_gpu != 0 && place.on_a_gpu != there;
    place.on_a_gpu = there;
  }
  dynamic_begin_.assign(n, program::kSharedStart);
  for (std::uint32_t f = 0; f < n; ++f) {
    const Place& place = places[root(f)];
    if (place.behind == 0) continue;
    const std::uint64_t first = place.behind + program::kSharedGap,
                        remainder = place.several ? 0 : place.on_a_gpu % place.remainders;
    dynamic_begin_[f] = static_cast<std::uint32_t>(
        up(first - std::min(first, remainder), place.remainders) + remainder);
  }
}

std::optional<std::string> Linker::link(program::Program& program) {
  if (auto error = collect()) return error;
  if (auto error = place(program)) return error;
  call_graph();
  return lay_out_shared();
}

}  // namespace lockstep::compile
