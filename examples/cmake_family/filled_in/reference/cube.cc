#include "reference/cube.h"

namespace solids::reference {
using namespace lockstep;
using namespace lockstep::reference;

Bounded cube(std::span<const float> x) {
  const Eigen::Map<const Eigen::ArrayXf> values(x.data(), static_cast<Eigen::Index>(x.size()));
  const Eigen::ArrayXf square = values * values;
  return exactly(Eigen::ArrayXf(square * values));
}

}  // namespace solids::reference
