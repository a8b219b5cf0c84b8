#include "simulator/compile/frame.h"

#include <algorithm>

#include "simulator/compile/compile_error.h"

namespace lockstep::compile {
namespace {

// The limit for a kernel's parameters in PTX ISA 8.1; also applied to a function's arguments.
constexpr std::uint64_t kParameterBytes = 32764;

template <class Map>
auto found(const Map& map, const std::string& name) -> std::optional<typename Map::mapped_type> {
  const auto it = map.find(name);
  if (it == map.end()) return std::nullopt;
  return it->second;
}

}  // namespace

void check_file_bytes(std::uint32_t bytes, const program::Function& f) {
  if (bytes > kMaxFileBytes) {
    throw CompileError{
        "function " + f.demangled +
        " has more registers and parameters live at once than the simulated GPU has room for"};
  }
}

Frame::Frame(const ptx::Function& f, program::Function& out) : function_(f), out_(out) {
  lay_out_parameters();
  lay_out_local();
}

const program::Storage* Frame::storage_of(const std::string& name) const {
  const auto it = storage_.find(name);
  return it == storage_.end() ? nullptr : &it->second;
}
std::optional<std::uint32_t> Frame::kernel_parameter(const std::string& name) const {
  return found(kernel_parameters_, name);
}
std::optional<std::uint32_t> Frame::local_variable(const std::string& name) const {
  return found(local_, name);
}

program::Storage Frame::add(const ptx::Variable& v, const char* what) {
  if (v.size == 0)
    throw CompileError{std::string(what) + " '" + v.name + "' of function " + out_.demangled +
                       " has no size"};
  if (v.size > kParameterBytes) {
    throw CompileError{std::string(what) + " '" + v.name + "' of function " + out_.demangled +
                       " has " + std::to_string(v.size) + " bytes; the limit is " +
                       std::to_string(kParameterBytes)};
  }
  const program::Storage s{v.name, file_bytes_, static_cast<std::uint32_t>(v.size)};
  check_file_bytes(file_bytes_, out_);
  file_bytes_ += (s.size * program::kWarpSize + 63) & ~63u;
  storage_[v.name] = s;
  return s;
}

void Frame::lay_out_parameters() {
  if (function_.is_kernel) {
    std::uint64_t bytes = 0;
    for (const ptx::Variable& v : function_.parameters)
      bytes += std::max<std::uint64_t>(v.size, v.alignment);
    if (bytes > 2 * kParameterBytes || out_.parameter_offsets.back() > kParameterBytes) {
      throw CompileError{"the parameters of kernel " + out_.demangled + " have more than " +
                         std::to_string(kParameterBytes) + " bytes"};
    }
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
      kernel_parameters_[function_.parameters[i].name] = i;
  } else {
    for (const ptx::Variable& v : function_.parameters)
      out_.parameters.push_back(add(v, "parameter"));
    for (const ptx::Variable& v : function_.results) out_.results.push_back(add(v, "result"));
  }
  for (const ptx::Variable& v : function_.variables) {
    if (v.space == isa::Space::kParam) add(v, "parameter");
  }
}

void Frame::lay_out_local() {
  std::uint32_t at = 0;
  for (const ptx::Variable& v : function_.variables) {
    if (v.space != isa::Space::kLocal) continue;
    const std::uint64_t alignment = std::max(v.alignment, 16u);
    const std::uint64_t begin = (at + alignment - 1) / alignment * alignment;
    if (begin > kLocalBytes || v.size > kLocalBytes - begin) {
      throw CompileError{"no room for the local variable '" + v.name + "' of " + out_.demangled +
                         " (" + std::to_string(v.size) + " bytes, aligned to " +
                         std::to_string(v.alignment) + "): a thread has " +
                         std::to_string(kLocalBytes) + " bytes of local memory"};
    }
    at = static_cast<std::uint32_t>(begin);
    local_[v.name] = at;
    // nvcc collects a function's arrays in one variable, whose name has no meaning for the reader.
    const bool depot = v.name.rfind("__local_depot", 0) == 0;
    out_.local.push_back({depot ? "the function's local memory" : v.name, at,
                          at + static_cast<std::uint32_t>(v.size)});
    at += static_cast<std::uint32_t>(v.size) + 16;
  }
  out_.local_bytes = (at + 63) & ~63u;
}

}  // namespace lockstep::compile
