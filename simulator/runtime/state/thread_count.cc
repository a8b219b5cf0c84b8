#include "simulator/runtime/state/thread_count.h"

#include <filesystem>
#include <iterator>
#include <system_error>

namespace lockstep::runtime {

int thread_count() {
  std::error_code error;
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task", error),
                    std::filesystem::directory_iterator()));
}

}  // namespace lockstep::runtime
