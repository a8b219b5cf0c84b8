#include "simulator/libraries/cufft/layout.h"

#include <vector>

namespace lockstep::cufft {

std::byte* open(lockstepRunningWork* running, const Layout& layout, const char* name,
                const void* at, int use) {
  struct Level {
    std::size_t count, distance;  // bytes
  };
  // From the innermost dimension outwards. Dimensions without gaps are merged into one row.
  std::size_t width = layout.element;
  std::vector<Level> levels;
  const auto add = [&](std::int64_t count, std::int64_t elements) {
    const Level level{static_cast<std::size_t>(count),
                      static_cast<std::size_t>(elements) * layout.element};
    if (level.count == 1) return;
    if (levels.empty() && level.distance == width) {
      width *= level.count;
    } else {
      levels.push_back(level);
    }
  };
  add(layout.n[2], layout.stride);
  add(layout.n[1], layout.embed[2] * layout.stride);
  add(layout.n[0], layout.embed[1] * layout.embed[2] * layout.stride);
  add(layout.batch, layout.distance);

  lockstepRegion region{name, at, width, 1, 1, width, 0, layout.element, use};
  if (!levels.empty()) {
    region.height = levels[0].count;
    region.pitch = levels[0].distance;
  }
  if (levels.size() > 1) {
    region.depth = levels[1].count;
    region.slice = levels[1].distance;
  }
  const Level outer = levels.size() > 2 ? levels[2] : Level{1, 0},
              outmost = levels.size() > 3 ? levels[3] : Level{1, 0};
  std::byte* first = nullptr;
  for (std::size_t o = 0; o < outmost.count; ++o) {
    for (std::size_t i = 0; i < outer.count; ++i) {
      region.begin = static_cast<const std::byte*>(at) + o * outmost.distance + i * outer.distance;
      void* const opened = lockstepOpenRegion(running, &region);
      if (opened == nullptr) return nullptr;
      if (first == nullptr) first = static_cast<std::byte*>(opened);
    }
  }
  return first;
}

}  // namespace lockstep::cufft
