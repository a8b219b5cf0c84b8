#include "simulator/libraries/cublas/unsupported.h"

#include <mutex>
#include <set>
#include <string>

#include "simulator/libraries/cublas/access.h"

namespace lockstep::cublas {

int unsupported(const char* function) {
  // Uses the name that programs know: the header has cublasSsbmv for cublasSsbmv_v2. The set lives
  // as long as the process.
  static auto* const names = new std::set<std::string>;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  std::string name = function;
  if (const std::size_t at = name.find("_v2"); at != name.npos) name.erase(at, 3);
  return fail(names->insert(name).first->c_str(), CUBLAS_STATUS_NOT_SUPPORTED,
              "the simulated library does not have this function: use one that it has "
              "(docs/reference/libraries.md), or check the program's own kernels without the call",
              true);
}

}  // namespace lockstep::cublas
