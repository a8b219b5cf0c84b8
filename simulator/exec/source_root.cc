#include "simulator/exec/source_root.h"

#include <filesystem>

namespace lockstep::exec {

std::string below_root(const std::string& file, const std::string& root) {
  namespace fs = std::filesystem;
  if (root.empty() || file.empty()) return {};
  std::error_code error;
  // Resolves links in the folders, because compilers write either form.
  const fs::path top = fs::weakly_canonical(fs::absolute(root, error), error),
                 whole = fs::weakly_canonical(fs::absolute(file, error), error);
  const std::string name = whole.lexically_relative(top).string();
  return name.empty() || name == "." || name == ".." || name.starts_with("../") ? "" : name;
}

}  // namespace lockstep::exec
