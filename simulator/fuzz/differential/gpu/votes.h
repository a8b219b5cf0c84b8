// The votes on one program: what each level of ptxas leaves in memory, or how its kernel fails, and
// what the simulated GPU leaves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::fuzz::differential {

inline constexpr int kLevels[] = {0, 1, 3};

struct Votes {
  std::uint64_t silicon[3] = {};
  std::string fault[3];
  std::uint64_t simulated = 0;

  bool agree() const {
    for (int i = 0; i < 3; ++i)
      if (!fault[i].empty() || silicon[i] != simulated) return false;
    return true;
  }
  // The deviating voter: "-O3" or "simulated", or the groups that agree. A program that fails
  // equally at all levels has none.
  std::string alone() const {
    constexpr const char* kNames[] = {"-O0", "-O1", "-O3", "simulated"};
    std::map<std::pair<std::string, std::uint64_t>, std::vector<int>> groups;
    for (int i = 0; i < 3; ++i) groups[{fault[i], fault[i].empty() ? silicon[i] : 0}].push_back(i);
    groups[{"", simulated}].push_back(3);
    const auto name = [&](int i) {
      return kNames[i] + (i < 3 && !fault[i].empty() ? " (" + fault[i] + ")" : "");
    };
    const bool fails = !fault[0].empty() && fault[0] == fault[1] && fault[1] == fault[2];
    if (groups.size() == 2 && !fails) {
      for (const auto& [value, members] : groups)
        if (members.size() == 1) return name(members[0]);
    }
    std::string s;
    for (const auto& [value, members] : groups) {
      if (!s.empty()) s += " | ";
      for (std::size_t i = 0; i < members.size(); ++i) s += (i ? " " : "") + name(members[i]);
    }
    return s;
  }
};

}  // namespace lockstep::fuzz::differential
