#include "simulator/compile/lower.h"

#include <unordered_set>

#include "simulator/compile/function_builder.h"
#include "simulator/compile/lower_address.h"
#include "simulator/compile/lower_atomic.h"
#include "simulator/compile/lower_call.h"
#include "simulator/compile/lower_compute.h"
#include "simulator/compile/lower_control.h"
#include "simulator/compile/lower_copy.h"
#include "simulator/compile/lower_hint.h"
#include "simulator/compile/lower_image.h"
#include "simulator/compile/lower_load_store.h"
#include "simulator/compile/lower_matrix.h"
#include "simulator/compile/lower_mbarrier.h"
#include "simulator/compile/lower_sync.h"
#include "simulator/compile/lower_tensor_copy.h"
#include "simulator/compile/lower_tensor_memory.h"
#include "simulator/isa/category.h"

namespace lockstep::compile {
namespace {

void lower(FunctionBuilder& b, const Instruction& i) {
  using isa::Category;
  b.begin(i);
  switch (isa::category_of(i.opcode)) {
    case Category::kArithmetic:
    case Category::kIntegerArithmetic:
    case Category::kCarry:
    case Category::kApproximate:
    case Category::kBits:
    case Category::kCompare:
    case Category::kMove:
    case Category::kConvert:
    case Category::kVideo: return lower_compute(b, i);
    case Category::kLoadStore: return lower_load_store(b, i);
    case Category::kAtomic: return lower_atomic(b, i);
    case Category::kMultimem: return lower_multimem(b, i);
    case Category::kAddress: return lower_address(b, i);
    case Category::kClusterAddress: return lower_cluster_address(b, i);
    case Category::kCachePolicy: return lower_cache_policy(b, i);
    case Category::kCacheHint: return lower_cache_hint(b, i);
    case Category::kHint: return lower_hint(b, i);
    case Category::kControl: return lower_control(b, i);
    case Category::kCall: return lower_call(b, i);
    case Category::kStack: return lower_stack(b, i);
    case Category::kFence: return lower_fence(b, i);
    case Category::kBarrier: return lower_barrier(b, i);
    case Category::kClusterBarrier: return lower_cluster_barrier(b, i);
    case Category::kCollective: return lower_collective(b, i);
    case Category::kMbarrier: return lower_mbarrier(b, i);
    case Category::kAsyncCopy: return lower_async_copy(b, i);
    case Category::kMatrix:
    case Category::kWarpgroup:
    case Category::kMatrixLoadStore: return lower_matrix(b, i);
    case Category::kTensorCopy: return lower_tensor_copy(b, i);
    case Category::kTensorMemory: return lower_tensor_memory(b, i);
    case Category::kTexture: return lower_texture(b, i);
    case Category::kSurface: return lower_surface(b, i);
    case Category::kImageQuery: return lower_image_query(b, i);
  }
}

// The return at the function's end.
Instruction end_of(const ptx::Function& f) {
  Instruction end;
  end.text = "end of function";
  end.opcode = isa::Opcode::k_ret;
  if (!f.body.empty()) {
    end.ptx_line = f.body.back().ptx_line;
    end.source = f.body.back().source;
  }
  return end;
}

// Computes Program::guesses: weak loads into a register that a compare-and-swap compares with.
void note_guesses(const ptx::Function& f, const std::vector<std::uint32_t>& pc_of,
                  program::Program& program) {
  std::unordered_set<std::uint32_t> compared;  // registers
  for (const Instruction& i : f.body) {
    if (i.opcode == isa::Opcode::k_atom && i.modifiers.atom == isa::AtomOp::kCas &&
        i.operands[2].kind == Operand::Kind::kRegister) {
      compared.insert(i.operands[2].index);
    }
  }
  for (std::size_t n = 0; n < f.body.size(); ++n) {
    const Instruction& i = f.body[n];
    const bool weak = i.modifiers.semantics == isa::Semantics::kNone ||
                      i.modifiers.semantics == isa::Semantics::kWeak;
    if (i.opcode != isa::Opcode::k_ld || !weak || i.operands[0].kind != Operand::Kind::kRegister ||
        !compared.contains(i.operands[0].index))
      continue;
    program.guesses.insert(pc_of[n + 1] - 1);  // an operation for an operand may precede the load
  }
}

}  // namespace

void lower_function(const Linker& linker, std::uint32_t index, const program::Handlers& handlers,
                    ConstantFile& constants, program::Program& program,
                    program::RegisterPlaces places) {
  FunctionBuilder b(linker, index, handlers, constants, program, places);
  const ptx::Function& f = b.function();
  b.out().entry = b.next_pc();
  std::vector<std::uint32_t> pc_of;  // by instruction
  for (const Instruction& i : f.body) {
    pc_of.push_back(b.next_pc());
    lower(b, i);
  }
  pc_of.push_back(b.next_pc());
  lower(b, end_of(f));
  note_guesses(f, pc_of, program);
  b.finish(pc_of);
}

}  // namespace lockstep::compile
