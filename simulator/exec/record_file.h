// The file in which the processes of a run record events (runtime/state/record.h), for the process
// that started them.
#pragma once

#include <string>

namespace lockstep::exec {

// A file in memory, so that no full disk or removed folder can affect it. Every process of the run
// opens it by its path; an inherited descriptor would be lost if a program closes all of its
// descriptors.
class RecordFile {
 public:
  RecordFile();
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Why there is no file, as a sentence; empty if there is one.
  const std::string& error() const { return error_; }
  // A path of the file, valid while this process lives.
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, error_;
};

}  // namespace lockstep::exec
