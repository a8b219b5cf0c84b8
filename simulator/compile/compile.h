// Compiles parsed modules to a program: links them, places their variables, lays out shared and
// local memory, and assigns each instruction its handler and the slots of its operands.
//
//   modules -> linked (linker.h) -> each function: liveness (liveness.h) -> registers (registers.h)
//   -> operations, by category (lower.h)
//
// An instruction without a row or a handler refuses its function (program::Function::refusal), and
// the kernels that may call that function. The message contains the instruction as written, its PTX
// line and its function. An error that belongs to no single function is returned as an error.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "simulator/memory/device_memory.h"
#include "simulator/program/handlers.h"
#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// `managed`: the managed variables of an earlier load of the same texts, which are reused; if
// empty, they are created. `placed`: likewise, all variables of an earlier load on this device;
// they remain on an error. `kernel`: the name of the only kernel that gets operations; if empty,
// all kernels do.
std::variant<std::unique_ptr<program::Program>, program::LoadError> compile(
    std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
    const program::ManagedVariables& managed, program::RegisterPlaces places,
    const program::Handlers& handlers, const program::PlacedVariables& placed = {},
    std::string_view kernel = {});

}  // namespace lockstep::compile
