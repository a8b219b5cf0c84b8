#include "command/save_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

// Ignores SIGXFSZ for its lifetime: a write beyond the limit of file sizes fails, and does not kill
// the process.
class SizeSignalIgnored {
 public:
  SizeSignalIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~SizeSignalIgnored() { sigaction(SIGXFSZ, &before_, nullptr); }
  SizeSignalIgnored(const SizeSignalIgnored&) = delete;
  SizeSignalIgnored& operator=(const SizeSignalIgnored&) = delete;

 private:
  struct sigaction before_ {};
};

// Returns 0, or errno.
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
  const SizeSignalIgnored ignored;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  const int error = write_all(file, text);
  // Some file systems report a full disk only at close().
  const int late = close(file) != 0 ? errno : 0;
  return error != 0 ? error : late;
}

std::string sentence(const std::string& path, int error) {
  return error == 0 ? "" : path + " cannot be written: " + std::strerror(error);
}

// Resolves a link, so that it stays a link.
std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

bool is_other_than_a_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

std::string partial_of(const std::string& path) {
  return path + "." + std::to_string(getpid()) + ".partial";
}

}  // namespace

std::string save_file(const std::string& path, std::string_view text) {
  const std::string real = real_path(path);
  if (is_other_than_a_file(real)) return sentence(path, write_to(real, 0, text));
  const std::string partial = partial_of(real);
  int error = write_to(partial, O_TRUNC, text);
  if (error == 0 && std::rename(partial.c_str(), real.c_str()) != 0) error = errno;
  if (error != 0) unlink(partial.c_str());
  return sentence(path, error);
}

std::string write_file(const std::string& path, std::string_view text) {
  return sentence(path, write_to(path, O_TRUNC, text));
}

std::string append_to_file(const std::string& path, std::string_view text) {
  return sentence(path, write_to(path, O_APPEND, text));
}

std::string try_to_save(const std::string& path) {
  const std::string real = real_path(path);
  if (is_other_than_a_file(real)) {
    // Opening a pipe would wait for a reader.
    std::error_code ignored;
    if (fs::is_directory(real, ignored)) return sentence(path, EISDIR);
    return sentence(path, access(real.c_str(), W_OK) != 0 ? errno : 0);
  }
  const std::string partial = partial_of(real);
  const int error = write_to(partial, O_TRUNC, "");
  unlink(partial.c_str());
  return sentence(path, error);
}

std::string flush_stdout() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  return failed ? sentence("stdout", errno != 0 ? errno : EIO) : "";
}

}  // namespace lockstep::command
