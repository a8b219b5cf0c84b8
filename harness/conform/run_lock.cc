#include "harness/conform/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace lockstep {

RunLock::~RunLock() {
  if (file_ >= 0) close(file_);
}

std::string RunLock::take(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fmt::format("{} cannot be made: {}", folder.string(), error.message());
  const std::string path = (folder / ".lock").string();
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return fmt::format("{} cannot be written: {}", path, std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return fmt::format("{} cannot be locked: {}", path, std::strerror(errno));
    char text[32] = {};
    const ssize_t n = pread(file_, text, sizeof text - 1, 0);
    return fmt::format(
        "another run ({}) writes to {}: wait for its end, or give this one a folder of its own "
        "with --out=",
        n > 0 ? fmt::format("process {}", std::string_view(text, static_cast<std::size_t>(n)))
              : "a process",
        folder.string());
  }
  // The next process names this one in its message. Without the number, its message is shorter.
  const std::string self = std::to_string(getpid());
  if (ftruncate(file_, 0) == 0) [[maybe_unused]]
    const ssize_t n = pwrite(file_, self.data(), self.size(), 0);
  return "";
}

}  // namespace lockstep
