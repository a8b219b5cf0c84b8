// Findings that a project has decided to live with: which kinds, in which kernels.
//
// A file of lines
//
//     KIND  KERNEL  [# why]
//
// KIND is a finding's name (finding.h) or '*' for all. KERNEL is compared with the kernel's
// demangled name as findings print it; '*' in it stands for any text and '?' for any character.
// Empty lines, and what follows a '#', are left out. A finding of the host's has no kernel: it is
// compared by the name of the API function that failed, or by an empty name.
//
// A suppressed finding is kept apart and appears in reports only. Where the kernel could go on, it
// does, and every other check goes on with it. It can after a race, a value that nobody wrote, a
// shuffle from a lane that does not take part, or a mask without its caller. It can, too, after
// lanes of one warp at two instructions of one barrier, a barrier that threads have skipped by
// ending, and an mbarrier initialised or invalidated again. A bad address, a deadlock and the like
// end the kernel, suppressed or not.
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
  // What the file's text says, or a sentence that names the line that cannot be read.
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

// Whether the pattern, with '*' for any text and '?' for any character, is all of the text.
bool fits(std::string_view pattern, std::string_view text);

inline bool contains(std::uint32_t kinds, Kind kind) { return kinds >> static_cast<int>(kind) & 1; }

}  // namespace lockstep::check
