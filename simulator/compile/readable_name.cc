#include "simulator/compile/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace lockstep::compile {
namespace {

// Removes the prefix that nvcc adds to a file's static functions in relocatable device code:
// "__nv_static_35_", 35 characters that identify the file, and "_".
std::string without_file(const std::string& name) {
  constexpr std::string_view kStatic = "__nv_static_";
  if (!name.starts_with(kStatic)) return name;
  const char* const digits = name.c_str() + kStatic.size();
  char* end = nullptr;
  const unsigned long length = std::strtoul(digits, &end, 10);
  const std::size_t behind = static_cast<std::size_t>(end - name.c_str()) + 1;
  const bool fits = end != digits && *end == '_' && length < name.size() - behind;
  return fits && name[behind + length] == '_' ? name.substr(behind + length + 1) : name;
}

}  // namespace

std::string demangled(const std::string& full_name) {
  const std::string name = without_file(full_name);
  if (!name.starts_with("_Z")) return name;  // C linkage; "i" alone would be demangled to int
  int status = 0;
  char* s = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (s == nullptr) return full_name;
  std::string result(s);
  std::free(s);
  return result;
}

std::string variable_name(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return mangled;
  std::string name = demangled(mangled);
  if (const auto function = name.rfind(")::");
      function != name.npos && !name.substr(0, function + 1).ends_with("(anonymous namespace)")) {
    return name.substr(function + 3);
  }
  if (name.starts_with("_INTERNAL_")) {
    if (const auto file = name.find("::"); file != name.npos) name.erase(0, file + 2);
  }
  constexpr std::string_view kNobody = "(anonymous namespace)::";
  for (auto at = name.find(kNobody); at != name.npos; at = name.find(kNobody))
    name.erase(at, kNobody.size());
  return name;
}

}  // namespace lockstep::compile
