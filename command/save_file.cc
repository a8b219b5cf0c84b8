#include "command/save_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

// 0, or errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int write_to(const std::string& path, int flags, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  const int error = write_all(file, text);
  // Some file systems tell only here that there was no room.
  const int late = close(file) != 0 ? errno : 0;
  return error != 0 ? error : late;
}

}  // namespace

std::string save_file(const std::string& path, std::string_view text) {
  std::error_code ignored;
  // A link stays one.
  const std::string real = fs::exists(path, ignored) ? fs::canonical(path, ignored).string() : path;
  int error = 0;
  if (fs::exists(real, ignored) && !fs::is_regular_file(real, ignored)) {
    error = write_to(real, 0, text);
  } else {
    const std::string partial = real + "." + std::to_string(getpid()) + ".partial";
    error = write_to(partial, O_TRUNC, text);
    if (error == 0 && std::rename(partial.c_str(), real.c_str()) != 0) error = errno;
    if (error != 0) unlink(partial.c_str());
  }
  return error == 0 ? "" : path + " cannot be written: " + std::strerror(error);
}

}  // namespace lockstep::command
