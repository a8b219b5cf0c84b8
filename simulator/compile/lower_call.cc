#include "simulator/compile/lower_call.h"

namespace lockstep::compile {

void lower_call(FunctionBuilder& b, const Instruction& i) {
  const Operand& target = i.operands[1];
  program::Call call;
  const auto storages = [&](const Operand& list, std::vector<program::Storage>& out) {
    for (const Operand& o : list.elements) {
      if (o.kind == Operand::Kind::kSymbol || o.kind == Operand::Kind::kAddress) {
        const program::Storage* s = b.storage(o.symbol);
        if (s == nullptr)
          b.refuse(i, "passes '" + o.symbol + "', which is no parameter variable of this function");
        out.push_back(*s);
      } else if (o.kind == Operand::Kind::kRegister && b.register_bytes(o) != 0) {
        // A register has the same layout in the register file as a parameter of its width.
        out.push_back({"", b.register_slot(o), static_cast<std::uint32_t>(b.register_bytes(o))});
      } else {
        b.refuse(i, "passes an argument of a kind that the simulated GPU does not implement");
      }
    }
  };
  storages(i.operands[0], call.results);
  storages(i.operands[2], call.arguments);
  Op op;
  op.kind = OpKind::kControl;
  b.set_action(op, Action::kCall);
  std::vector<OperandUse> uses;
  if (target.kind == Operand::Kind::kRegister) {
    if (b.register_bytes(target) != 8)
      b.refuse(i, "calls through a register that is not 64 bits wide");
    call.target = b.register_slot(target);
    call.name = "a function pointer";
    b.out().calls = true;
    uses.push_back({call.target, Role::kAddress});
  } else {
    call.name = target.symbol;
    const Symbol* s = b.symbol(target.symbol);
    if (s != nullptr && s->kind == Symbol::Kind::kFunction) {
      call.function = static_cast<std::int32_t>(s->index);
      b.out().calls = true;
    } else if (target.symbol == "vprintf") {
      call.builtin = program::Builtin::kVprintf;
    } else if (target.symbol == "malloc") {
      call.builtin = program::Builtin::kMalloc;
    } else if (target.symbol == "free") {
      call.builtin = program::Builtin::kFree;
    } else if (target.symbol == "__assertfail") {
      call.builtin = program::Builtin::kAssertFail;
    } else if (target.symbol == "lockstep_launch_grid") {
      call.builtin = program::Builtin::kLaunchGrid;
      b.program().launches_grids = true;
    } else if (target.symbol == "lockstep_device_event") {
      call.builtin = program::Builtin::kDeviceEvent;
    } else if (target.symbol == "lockstep_device_error") {
      call.builtin = program::Builtin::kDeviceError;
    } else if (target.symbol.starts_with("__cudaCDP2")) {
      b.refuse(i,
               "calls '" + target.symbol +
                   "' of the device runtime (libcudadevrt): of the runtime API within kernels "
                   "the simulated GPU has launches, copies, fills, streams, events, cudaMalloc and "
                   "cudaFree alone");
    } else {
      b.refuse_undefined(i, "calls '" + target.symbol + "', which nothing in the program defines");
    }
    const std::size_t wanted = call.builtin == program::Builtin::kVprintf       ? 2
                               : call.builtin == program::Builtin::kLaunchGrid  ? 2
                               : call.builtin == program::Builtin::kDeviceError ? 2
                               : call.builtin == program::Builtin::kDeviceEvent ? 3
                               : call.builtin == program::Builtin::kAssertFail  ? 5
                               : call.builtin != program::Builtin::kNone        ? 1
                                                                         : call.arguments.size();
    if (call.arguments.size() != wanted)
      b.refuse(i, "passes another number of arguments than '" + target.symbol + "' takes");
  }
  op.as<program::SideDataFields>().set_index(b.program().calls.size());
  b.program().calls.push_back(std::move(call));
  b.emit(i, op, ValidityTransfer::kControl, std::move(uses));
}

}  // namespace lockstep::compile
