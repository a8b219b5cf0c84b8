#include "simulator/exec/record_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "command/save_file.h"
#include "simulator/runtime/state/record_mark.h"

namespace lockstep::exec {

RecordFile::RecordFile() {
  file_ = memfd_create("lockstep-record", MFD_CLOEXEC);
  if (file_ < 0) {
    error_ = std::string("no record of the run can be kept: ") + std::strerror(errno);
    return;
  }
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
  error_ = command::write_file(path_, runtime::kRecordMark);
  if (!error_.empty()) error_ = "no record of the run can be kept: " + error_;
}

RecordFile::~RecordFile() {
  if (file_ >= 0) close(file_);
}

}  // namespace lockstep::exec
