#include "simulator/compile/compile.h"

#include <algorithm>
#include <functional>

#include "simulator/compile/compile_error.h"
#include "simulator/compile/frame.h"
#include "simulator/compile/linker.h"
#include "simulator/compile/lower.h"
#include "simulator/compile/readable_name.h"
#include "simulator/ptx/parser.h"

namespace lockstep::compile {

using program::LoadError;

namespace {

void describe_kernel(const FunctionRef& ref, const Linker& linker, std::uint32_t index,
                     program::Function& f) {
  const ptx::Function& source = *ref.function;
  f.parameter_offsets = ptx::parameter_offsets(source);
  for (const ptx::Variable& p : source.parameters) {
    f.parameter_sizes.push_back(static_cast<std::uint32_t>(p.size));
    f.parameter_names.push_back(p.name);
  }
  std::copy_n(source.max_threads, 3, f.max_threads);
  std::copy_n(source.required_threads, 3, f.required_threads);
  std::copy_n(source.required_cluster, 3, f.required_cluster);
  f.target = ref.module->target_number;
  f.dynamic_shared_begin = linker.dynamic_shared(index);
  for (const std::uint32_t v : linker.shared_of()[index]) {
    const SharedVariable& s = linker.shared()[v];
    if (s.dynamic) {
      f.dynamic_shared = true;
      continue;
    }
    f.shared.push_back(
        {variable_name(s.name), s.begin, static_cast<std::uint32_t>(s.begin + s.size)});
    const std::uint64_t at =
        (std::uint64_t{f.static_shared_bytes} + s.alignment - 1) / s.alignment * s.alignment;
    f.static_shared_bytes =
        static_cast<std::uint32_t>(at + s.size);  // the linker has checked that all fit
  }
}

// The sizes of a program's arrays at some point. Used to remove the operations of a function that
// is refused halfway.
class Extent {
 public:
  explicit Extent(const program::Program& p)
      : ops_(p.ops.size()),
        origins_(p.origins.size()),
        uses_(p.uses.size()),
        slots_(p.slots.size()),
        calls_(p.calls.size()),
        barriers_(p.cluster_barriers),
        launches_(p.launches_grids) {}
  void restore(program::Program& p) const {
    p.ops.resize(ops_);
    p.transfers.resize(ops_);
    p.use_begin.resize(ops_);
    p.origins.resize(origins_);
    p.uses.resize(uses_);
    p.slots.resize(slots_);
    p.calls.resize(calls_);
    p.cluster_barriers = barriers_;
    p.launches_grids = launches_;
  }

 private:
  std::size_t ops_, origins_, uses_, slots_, calls_;
  bool barriers_, launches_;
};

// The local memory of the deepest chain of calls. A call through a pointer counts as a call of
// every function that it may name. At most kLocalBytes: a deeper chain is detected when it is
// called.
std::uint32_t stack_of(const program::Program& program, const Linker& linker, std::uint32_t f) {
  std::uint64_t sum = 0;
  for (const std::uint32_t g : linker.callees_of()[f]) sum += program.functions[g].local_bytes;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kLocalBytes));
}

}  // namespace

std::variant<std::unique_ptr<program::Program>, program::LoadError> compile(
    std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
    const program::ManagedVariables& managed, program::RegisterPlaces places,
    const program::Handlers& handlers, const program::PlacedVariables& placed,
    std::string_view kernel) {
  auto program = std::make_unique<program::Program>();
  const auto fail = [&](std::string message) {
    for (const memory::Allocation* allocation : program->placed) {
      if (allocation->kind != memory::Kind::kManaged && placed.empty())
        memory.release(allocation->base);
    }
    program::LoadError error;
    error.message = std::move(message);
    return error;
  };
  Linker linker(modules, memory, device, managed, placed);
  if (auto error = linker.link(*program)) return fail(*error);
  for (const ptx::Module& m : modules) program->sources.push_back({m.files, m.inline_sites});
  const auto count = static_cast<std::uint32_t>(linker.functions().size());
  program->functions.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    program::Function& f = program->functions[i];
    const FunctionRef& ref = linker.functions()[i];
    f.name = ref.function->name;
    if (kernel.empty() || !ref.function->is_kernel || f.name == kernel)
      f.demangled = demangled(f.name);
    f.is_kernel = ref.function->is_kernel;
    if (f.is_kernel) describe_kernel(ref, linker, i, f);
  }
  ConstantFile constants;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ptx::Function& f = *linker.functions()[i].function;
    if (!kernel.empty() && f.is_kernel && f.name != kernel) continue;
    const auto refusal_of = [&](std::string message, int line) {
      LoadError error;
      error.message = std::move(message);
      error.text = linker.functions()[i].module_index;
      error.function = f.name;
      error.ptx_line = line != 0 || f.body.empty() ? line : f.body.front().ptx_line;
      return error;
    };
    if (f.unknown) {
      program->functions[i].refusal = refusal_of(
          ptx::ParseError{f.unknown->line, demangled(f.name), f.unknown->message}.to_string(),
          f.unknown->line);
      continue;
    }
    const Extent before(*program);
    try {
      lower_function(linker, i, handlers, constants, *program, places);
    } catch (const CompileError& r) {
      LoadError refusal = refusal_of(r.message, r.ptx_line);
      if (r.whole_program) {
        fail({});
        return refusal;
      }
      before.restore(*program);
      program->functions[i].refusal = std::move(refusal);
    }
  }
  program->use_begin.push_back(static_cast<std::uint32_t>(program->uses.size()));
  constants.finish(*program);
  for (std::uint32_t i = 0; i < count; ++i) {
    program::Function& f = program->functions[i];
    if (!f.is_kernel) continue;
    f.local_total = stack_of(*program, linker, i);
    for (const std::uint32_t g : linker.callees_of()[i]) {
      const program::Function& callee = program->functions[g];
      f.calls |= linker.recursive(g) || linker.calls_indirectly(g);
      f.uses_alloca |= callee.uses_alloca;
      f.byte_granular |= callee.byte_granular;
      f.reserved_shared |= callee.reserved_shared;
      f.registers = std::max(f.registers, callee.registers);
      if (!f.refusal) f.refusal = callee.refusal;
    }
  }
  return program;
}

}  // namespace lockstep::compile
