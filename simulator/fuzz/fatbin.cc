#include "simulator/fatbin/fatbin.h"

#include <cstdlib>
#include <cstring>
#include <variant>

#include "simulator/fuzz/targets.h"

namespace lockstep::fuzz {

void fatbin(Bytes input) {
  const auto read = lockstep::fatbin::read_container(input);
  if (const auto* error = std::get_if<lockstep::fatbin::Error>(&read)) {
    if (error->message.find("offset") == std::string::npos) std::abort();
    return;
  }
  const auto& images = std::get<std::vector<lockstep::fatbin::Image>>(read);
  for (const int capability : {75, 90, 100, 103, 120}) {
    const lockstep::fatbin::Image* image = choose_ptx(images, capability);
    if (image != nullptr ? image->kind != lockstep::fatbin::Kind::kPtx
                         : explain_no_ptx(images, capability).empty())
      std::abort();
  }
}

}  // namespace lockstep::fuzz
