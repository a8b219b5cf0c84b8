// Turns parsed modules into a program: links them, places their variables, lays out shared and local memory, and gives every
// instruction its handler and the places of its operands. `managed` and `places` as in engine::load_module.
//
// An instruction, or a form of one, that has no handler is an error that names it as written, its line in the PTX and its function.
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "simulator/engine/launch.h"
#include "simulator/engine/program.h"
#include "simulator/memory/device_memory.h"
#include "simulator/ptx/ir.h"

namespace lockstep::decode {

std::variant<std::unique_ptr<engine::Program>, engine::LoadError> decode(std::span<const ptx::Module> modules, memory::DeviceMemory& memory,
                                                                         int device, const engine::ManagedVariables& managed,
                                                                         engine::RegisterPlaces places);

}  // namespace lockstep::decode
