// The file in which the processes of a run record events (runtime/state/record.h) for the process
// that started them.
#pragma once

#include <string>

namespace lockstep::exec {

// In memory, so that neither a full disk nor a removed folder matters. Every process of the run
// opens it by path, because a program may close inherited descriptors.
class RecordFile {
 public:
  RecordFile();
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Why the file could not be created, as a sentence; empty if it exists.
  const std::string& error() const { return error_; }
  // Valid while this process runs.
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, error_;
};

}  // namespace lockstep::exec
