// The file in which the processes of a run leave what happens (runtime/state/record.h), for the
// process that started them.
#pragma once

#include <string>

namespace lockstep::exec {

// In memory, so that no disk can be full and no folder removed. Every process of the run opens it
// by the path: a descriptor of its own would be lost where a program closes what it has inherited.
class RecordFile {
 public:
  RecordFile();
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Empty, or why there is none: a sentence.
  const std::string& error() const { return error_; }
  // Leads there while this process lives.
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, error_;
};

}  // namespace lockstep::exec
