#include "simulator/compile/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace lockstep::compile {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // of C linkage; "i" alone would be the type int
  int status = 0;
  char* s = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (s == nullptr) return name;
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
