// Fetches of a whole warp from the most common textures: f32 elements with one channel, filtered
// linearly in a plane or layer, with address modes that leave no element outside. The results are
// those of sample() and filter() (image.h), eight lanes at a time.
#pragma once

#include <cstdint>

#include "simulator/memory/image.h"

namespace lockstep::memory {

inline constexpr int kPlaneLanes = 32;

bool is_filtered_plane(const Texture& texture);

// The elements that each lane reads, up to four, and their weights in steps of 1/256. The weight of
// an element that a lane does not read is 0.
struct PlaneSamples {
  alignas(32) Address address[4][kPlaneLanes];
  alignas(32) std::int32_t weight[4][kPlaneLanes];
  std::uint32_t reading[4];  // by element: the lanes that read it, one bit each
};
// For the lanes of a mask. `layers` may be nullptr if the image has none.
PlaneSamples sample_plane(const Texture& texture, const float x[], const float y[],
                          const std::uint32_t layers[], std::uint32_t lanes);
// The bits of each lane's result. elements[n][i] belongs to address[n][i]; any float that no lane
// reads is allowed.
void filter_plane(const Texture& texture, const PlaneSamples& samples,
                  const float elements[][kPlaneLanes], std::uint32_t results[]);

}  // namespace lockstep::memory
