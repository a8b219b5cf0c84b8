// Compiles parsed modules to a program: links them, places their variables, lays out shared and
// local memory, and assigns a handler and operand slots to each instruction.
//
//   modules -> linked (linker.h) -> each function: liveness (liveness.h) -> registers (registers.h)
//   -> operations, by category (lower.h)
//
// An instruction without a row or a handler makes its function refused
// (program::Function::refusal), and with it the kernels that may call the function. The message
// contains the instruction as written, its line in the PTX and its function. An error is returned
// only for a fault that belongs to no single function.
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
// empty, they are allocated. `placed`: likewise for all variables of an earlier load on this
// device; they remain allocated if an error occurs. `kernel`: the name of the only kernel to
// compile; if empty, all kernels are compiled.
std::variant<std::unique_ptr<program::Program>, program::LoadError> compile(
    std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
    const program::ManagedVariables& managed, program::RegisterPlaces places,
    const program::Handlers& handlers, const program::PlacedVariables& placed = {},
    std::string_view kernel = {});

}  // namespace lockstep::compile
