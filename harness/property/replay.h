// Replay: the name of one case of one property, and the command line that runs it again.
//
// A case's name is "<Suite.Name>: <text of the case>", and is the value of --case=:
//   Stencil.MatchesItsReference: n=33 block=32 boundary=zero
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

struct CaseName {
  std::string property;
  std::string text;
  bool operator==(const CaseName&) const = default;
};

// False, with a sentence in `error`, unless `name` has the form of a case's name.
bool parse_case_name(std::string_view name, CaseName& out, std::string& error);

// Quotes `text` if a POSIX shell would otherwise change it.
std::string shell_quoted(std::string_view text);

// A shell command in one line that runs exactly this case, whatever filters and shards are set. It
// contains the settings of the simulated GPU (device, schedule) under which the case failed. Under
// Bazel it is a `bazel test` command. Under conform it is conform's own command, from
// LOCKSTEP_REPLAY. Otherwise it is the program itself.
std::string replay_line(std::string_view property, std::string_view case_text);

// The lines of all cases of a property. The environment is read once.
class ReplayLine {
 public:
  explicit ReplayLine(std::string_view property);
  std::string of(std::string_view case_text) const;

 private:
  std::string before_, argument_, after_;  // what stands around the case
};

}  // namespace lockstep
