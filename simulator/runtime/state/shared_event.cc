#include "simulator/runtime/state/shared_event.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lockstep::runtime {

SharedEvent::~SharedEvent() {
  if (counts != nullptr) munmap(counts, sizeof *counts);
  if (file >= 0) close(file);
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  const int file = memfd_create("lockstep-event", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (ftruncate(file, sizeof(Counts)) != 0) {
    close(file);
    return nullptr;
  }
  return open(file);
}

std::shared_ptr<SharedEvent> SharedEvent::open(int file) {
  auto made = std::make_shared<SharedEvent>();
  made->file = file;
  void* const at = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return nullptr;
  made->counts = static_cast<Counts*>(at);
  return made;
}

}  // namespace lockstep::runtime
