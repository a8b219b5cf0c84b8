// Permits one run at a time in a folder: two would mix their ledgers and overwrite each other's
// passports.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

class RunLock {
 public:
  RunLock() = default;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

  // Makes the folder if necessary, and locks it until the process ends in any way. Returns an empty
  // text, or a sentence: which process runs there, and what to do.
  std::string take(const std::filesystem::path& folder);

 private:
  int file_ = -1;
};

}  // namespace lockstep
