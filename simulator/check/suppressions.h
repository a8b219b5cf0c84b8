// Suppressions: the findings that a project has decided to accept, by kind and kernel.
//
// The file consists of lines
//
//     KIND  KERNEL  [# why]
//
// KIND is a finding's name (finding.h) or '*' for all kinds. KERNEL is a pattern for the kernel's
// demangled name as findings print it: '*' matches any text, '?' any character. Empty lines and
// text after '#' are ignored. A finding of the host has no kernel. Its pattern is compared with the
// name of the API function that failed, or with an empty name.
//
// A suppressed finding is stored separately and appears only in reports. If the kernel can
// continue, it does, with all other checks. A kernel can continue after
// - a race, or a value that nobody wrote,
// - a shuffle from a lane that does not take part, or a mask without its caller,
// - lanes of one warp at two instructions of one barrier, or a barrier that threads have skipped by
//   ending,
// - an mbarrier initialised or invalidated again.
//
// A bad address, a deadlock and similar findings end the kernel, suppressed or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "simulator/check/finding.h"

namespace lockstep::check {

class Suppressions {
 public:
  // Parses the text of a file. Returns an error message that names the line if a line cannot be
  // read.
  static std::variant<Suppressions, std::string> parse(std::string_view text);

  // Bit k is set when findings of Kind k in the kernel of this (demangled) name are suppressed.
  std::uint32_t kinds_in(std::string_view kernel) const;
  // Whether this finding is suppressed.
  bool cover(const Finding& finding) const;
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    std::uint32_t kinds;
    std::string kernel;
  };
  std::vector<Rule> rules_;
};

// Whether the whole text matches the pattern: '*' matches any text, '?' any character.
bool fits(std::string_view pattern, std::string_view text);

inline bool contains(std::uint32_t kinds, Kind kind) { return kinds >> static_cast<int>(kind) & 1; }

}  // namespace lockstep::check
