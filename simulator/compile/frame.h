// The contents of a function's frame beside its registers: parameters, results and local variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// A thread's local memory on every device (PTX ISA, local state space), with room for rounding up.
inline constexpr std::uint32_t kLocalBytes = 512 * 1024;
// The most bytes of a warp's registers and parameters: some 65,000 live 64-bit values a thread.
inline constexpr std::uint32_t kMaxFileBytes = 1u << 24;

class Frame {
 public:
  // Lays out the frame of `f` and stores the layout in `out`, including a kernel's parameter
  // offsets. `out.name` must be set. Throws CompileError if something does not fit.
  Frame(const ptx::Function& f, program::Function& out);

  // The bytes of the register file that .param variables use. Registers follow them.
  std::uint32_t file_bytes() const { return file_bytes_; }
  const program::Storage* storage_of(const std::string& name) const;
  std::optional<std::uint32_t> kernel_parameter(const std::string& name) const;  // its index
  std::optional<std::uint32_t> local_variable(
      const std::string& name) const;  // the variable's offset in the frame

 private:
  program::Storage add(const ptx::Variable& v, const char* what);
  void lay_out_parameters();
  void lay_out_local();

  const ptx::Function& function_;
  program::Function& out_;
  std::uint32_t file_bytes_ = 0;
  std::unordered_map<std::string, program::Storage>
      storage_;  // .param variables of a function and of its calls
  std::unordered_map<std::string, std::uint32_t> local_;  // .local variables
  std::unordered_map<std::string, std::uint32_t> kernel_parameters_;
};

// Throws CompileError if registers and parameters take more than kMaxFileBytes.
void check_file_bytes(std::uint32_t bytes, const program::Function& f);

}  // namespace lockstep::compile
