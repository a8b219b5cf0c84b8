#include "command/nearest.h"

#include <algorithm>

namespace lockstep::command {
namespace {

// The number of letters to change, add, omit, or exchange with the next: typical typing errors.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        d[i][k] = i + k;
        continue;
      }
      d[i][k] =
          std::min({d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1])});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        d[i][k] = std::min(d[i][k], d[i - 2][k - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
  std::string best;
  // At most a third of the letters may be wrong; beyond that it is another word.
  std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    // An incomplete word matches as well.
    const std::size_t d = typed.size() > 2 && name.starts_with(typed) ? 1 : distance(typed, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& name) {
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace lockstep::command
