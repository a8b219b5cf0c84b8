#include "harness/conform/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace lockstep {
namespace {

// The usable width of the terminal. A wider status line would wrap, and repeat ten times a second.
std::size_t columns() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

}  // namespace

Paint paint_of_stdout() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return {isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0') && !dumb};
}

Progress::Progress(std::size_t suites, bool several_targets)
    : suites_(suites),
      several_(several_targets),
      live_(isatty(STDOUT_FILENO) != 0),
      paint_(paint_of_stdout()) {}

void Progress::tick(const Target& target, const Suite& suite, const SuiteProgress& p) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  const std::string what =
      p.planned == 0 ? "starting"
                     : fmt::format("{} of {} properties  {}", p.done, p.planned, p.running);
  running_[label(target, suite)] =
      fmt::format("{}  {:.0f} s  {}", label(target, suite), p.seconds, what);
  std::string all;
  for (const auto& [name, text] : running_) all += (all.empty() ? "" : " | ") + text;
  fmt::print("\r\x1b[K{}", std::string_view(all).substr(0, columns()));
  std::fflush(stdout);
}

void Progress::end(const Target& target, std::size_t number, const SuiteResult& r) {
  const std::lock_guard lock(mutex_);
  running_.erase(label(target, r.suite));
  const Tally t = r.ledger.tally();
  fmt::print("{}[{}/{}] {}: {}, {} of {} properties passed, {} {}, {:.1f} s\n",
             live_ ? "\r\x1b[K" : "", number, suites_, label(target, r.suite),
             r.green() ? paint_.good("green") : paint_.bad("RED"), t.passed, t.planned, t.cases,
             t.cases == 1 ? "case" : "cases", r.end.seconds);
  std::fflush(stdout);
}

std::string Progress::label(const Target& target, const Suite& suite) const {
  return several_ ? fmt::format("GPU {} {}", target.device, suite.family) : suite.family;
}

}  // namespace lockstep
