#include "simulator/memory/describe.h"

namespace lockstep::memory {

std::string bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

namespace {

std::string origin(const Allocation& a) {
  switch (a.kind) {
    case Kind::kDevice: return "cudaMalloc #" + std::to_string(a.id);
    case Kind::kManaged: return "managed allocation #" + std::to_string(a.id);
    case Kind::kPinned: return "pinned allocation #" + std::to_string(a.id);
    case Kind::kVariable: return "__device__ variable";
    case Kind::kConstant: return "__constant__ variable";
    case Kind::kRegistered: return "registered host memory #" + std::to_string(a.id);
  }
  return "allocation #" + std::to_string(a.id);
}

}  // namespace

std::string describe(const Allocation& a) {
  const bool narrowed = a.begin != a.base || a.end != a.base + a.size;
  if (narrowed) {
    const std::string part =
        bytes(a.end - a.begin) + " within " + origin(a) + " of " + bytes(a.size);
    return a.name.empty() ? part : "'" + a.name + "' (" + part + ")";
  }
  if (a.name.empty()) return origin(a) + " (" + bytes(a.size) + ")";
  return "'" + a.name + "' (" + bytes(a.size) + ", " + origin(a) + ")";
}

}  // namespace lockstep::memory
