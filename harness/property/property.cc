#include "harness/property/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "harness/device/device.h"
#include "harness/ledger/exit_guard.h"
#include "harness/ledger/session.h"
#include "harness/property/case.h"
#include "harness/property/digest.h"
#include "harness/property/replay.h"

namespace lockstep {
namespace {

struct Clause {
  const char* text;      // what is required
  std::uint64_t device;  // what the device has
};

Clause clause_of(Capability capability) {
  const DeviceProperties& d = device_properties();
  switch (capability) {
    case Capability::kClusters: return {"thread-block clusters", d.max_cluster_blocks > 1};
    case Capability::kClusterSize16: return {"clusters of 16 blocks", d.max_cluster_blocks >= 16};
    case Capability::kManagedMemory: return {"managed memory", d.managed_memory};
    case Capability::kCooperativeLaunch: return {"cooperative launch", d.cooperative_launch};
    case Capability::kGlobalBytes: return {"bytes of global memory", d.global_bytes};
    case Capability::kSharedOptinBytes:
      return {"bytes of shared memory in a block by opting in", d.shared_bytes_per_block_optin};
    case Capability::kDevices: return {"devices", static_cast<std::uint64_t>(device_count())};
    case Capability::kComputeCapability:
      return {"tenths of compute capability", static_cast<std::uint64_t>(10 * d.major + d.minor)};
    case Capability::kWgmma:
      return {"multiplication of matrices by a warpgroup", d.major == 9 && d.minor == 0};
    case Capability::kTensorMemory: return {"products in tensor memory", d.major == 10};
    case Capability::kTensorCopies: return {"copies through tensor maps", d.major >= 9};
    case Capability::kSimulator: return {"the simulated GPU", d.simulated};
  }
  throw std::invalid_argument("require_capability: no such capability");
}

std::string indented(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

// One run of a property: draws its cases, and shrinks the first that fails.
class PropertyRun {
 public:
  PropertyRun(std::string_view name, const detail::CaseType& type, const PropertyOptions& options);
  PropertyResult run();

 private:
  using CasePointer = detail::AnyCasePointer;

  void run_given(const std::string& text);
  void run_drawn();
  // A drawn case, and with its shrinks. The latter makes the case anew for each call of value().
  struct Drawn {
    explicit Drawn(rc::Shrinkable<CasePointer> drawn) : tree(std::move(drawn)), c(tree.value()) {}
    rc::Shrinkable<CasePointer> tree;
    CasePointer c;
  };
  // Draws a case. If its work exceeds a case's share of the session's limit, draws another instead.
  Drawn draw(const rc::Random& random, int size, Turns* turns);
  // Counts the work of the next case. Whether all is still within the session's limit.
  bool has_work_left(const detail::AnyCase& next);
  // Runs and counts a drawn or given case. False if it failed or no further case can run.
  bool holds(const detail::AnyCase& c);
  // Shrinks a failing case to the simplest that fails, within the limits of the options.
  void shrink(rc::Shrinkable<CasePointer> failing);
  // Runs a candidate for a simpler counterexample, unless it was tried before. True if it fails.
  bool fails_too(const detail::AnyCase& c);
  bool may_shrink() const;
  CaseOutcome run_one(const detail::AnyCase& c, const std::string& text);
  void keep(Failure failure, std::string text);

  std::string name_;
  const ReplayLine replay_;
  const detail::CaseType& type_;
  PropertyOptions options_;
  PropertyResult result_;
  std::int64_t work_ = 0;                            // of the drawn cases
  bool has_large_case_ = false;                      // drawn in turns
  std::set<std::string> tried_;                      // since the first failure
  std::chrono::steady_clock::time_point failed_at_;  // when the first case failed
};

PropertyRun::PropertyRun(std::string_view name, const detail::CaseType& type,
                         const PropertyOptions& options)
    : name_(name), replay_(name), type_(type), options_(options) {
  result_.seed = options.seed ? options.seed : seed_of(name);
  if (options_.cases <= 0) options_.cases = kDefaultCases;
}

CaseOutcome PropertyRun::run_one(const detail::AnyCase& c, const std::string& text) {
  exit_guard::running_case(text, replay_.of(text));
  CaseOutcome outcome = run_case([&] { type_.check(c); }, result_.reduced);
  exit_guard::running_case("", "");
  if (!outcome.device_lost.empty())
    mark_device_lost(fmt::format("{} with {}: {}", name_, text, outcome.device_lost));
  return outcome;
}

void PropertyRun::keep(Failure failure, std::string text) {
  result_.failure = std::move(failure);
  result_.minimal_case = std::move(text);
}

bool PropertyRun::holds(const detail::AnyCase& c) {
  // In mutation testing, a case that never executes the mutated code holds as before.
  if (extension().begin_part && extension().begin_part() == 0) {
    ++result_.cases;
    return true;
  }
  std::string text = print_case(c);
  CaseOutcome outcome = run_one(c, text);
  if (outcome.failure.reason != Reason::kNone) {
    ++result_.cases;
    keep(std::move(outcome.failure), std::move(text));
    return false;
  }
  if (outcome.not_applicable && result_.cases > 0) {
    outcome.not_run = fmt::format(
        "{} earlier cases ran, but the case '{}' {}: move what needs it to a property of its own",
        result_.cases, text, *outcome.not_applicable);
    outcome.not_applicable.reset();
  }
  if (outcome.not_run) result_.not_run = fmt::format("{} (case: {})", *outcome.not_run, text);
  result_.not_applicable = std::move(outcome.not_applicable);
  if (result_.not_run || result_.not_applicable) return false;
  ++result_.cases;
  result_.reduced |= outcome.reduced;
  result_.budget = std::max(result_.budget, outcome.budget);
  if (outcome.digest != 0)
    result_.digest = digest_of(&outcome.digest, sizeof outcome.digest, result_.digest);
  return true;
}

bool PropertyRun::may_shrink() const {
  return device_lost().empty() && result_.shrink_runs < options_.max_shrinks &&
         std::chrono::steady_clock::now() - failed_at_ <
             std::chrono::duration<double>(options_.max_shrink_seconds);
}

bool PropertyRun::fails_too(const detail::AnyCase& c) {
  std::string text = print_case(c);
  if (!tried_.insert(text).second) return false;
  ++result_.shrink_runs;
  CaseOutcome outcome = run_one(c, text);
  // A candidate that could not run is no counterexample.
  if (outcome.failure.reason == Reason::kNone) return false;
  ++result_.shrinks;
  keep(std::move(outcome.failure), std::move(text));
  return true;
}

void PropertyRun::shrink(rc::Shrinkable<CasePointer> failing) {
  failed_at_ = std::chrono::steady_clock::now();
  tried_.insert(result_.minimal_case);
  for (bool simpler = true; simpler;) {
    simpler = false;
    rc::Seq<rc::Shrinkable<CasePointer>> candidates = failing.shrinks();
    while (may_shrink()) {
      const rc::Maybe<rc::Shrinkable<CasePointer>> candidate = candidates.next();
      if (!candidate) break;
      if (!fails_too(*candidate->value())) continue;
      failing = *candidate;
      simpler = true;
      break;
    }
  }
}

void PropertyRun::run_given(const std::string& text) {
  const std::unique_ptr<detail::AnyCase> c = type_.make();
  if (const std::string error = parse_case(text, *c); !error.empty()) {
    result_.not_run = "--case: " + error;
  } else {
    holds(*c);
  }
}

PropertyRun::Drawn PropertyRun::draw(const rc::Random& random, int size, Turns* turns) {
  const std::int64_t most = session_options().work / kCasesOfMostWork;
  const auto too_much = [&](const Drawn& drawn) { return most > 0 && drawn.c->work() > most; };
  Drawn drawn(detail::draw_case(type_.make, random, size, turns));
  // In turns, the first large case stays: an option may have no small ones.
  if (!too_much(drawn) || (turns != nullptr && !std::exchange(has_large_case_, true))) return drawn;
  result_.reduced = true;
  constexpr int kTries = 20;
  rc::Random others = random;
  for (int i = 0; i < kTries && too_much(drawn); ++i) {
    Drawn other(detail::draw_case(type_.make, others.split(), size));
    if (other.c->work() < drawn.c->work()) drawn = std::move(other);
  }
  return drawn;
}

bool PropertyRun::has_work_left(const detail::AnyCase& next) {
  constexpr std::uint64_t kLeastCases = 10;
  constexpr std::int64_t kStepsOfALaunch = 20'000;  // as much as its allocations and copies take
  const SessionOptions& session = session_options();
  if (session.work == 0) return true;
  work_ += (kStepsOfALaunch + next.work()) * options_.cost;
  return result_.cases < kLeastCases ||
         static_cast<double>(work_) <= static_cast<double>(session.work) * session.scale;
}

void PropertyRun::run_drawn() {
  rc::Random random(result_.seed);
  Turns turns(result_.seed);
  for (int i = 0; i < options_.cases; ++i) {
    // As in RapidCheck: generators that use the size begin with small values.
    const int size =
        options_.cases == 1 ? rc::kNominalSize : rc::kNominalSize * i / (options_.cases - 1);
    turns.next_case();
    const Drawn drawn = draw(random.split(), size, options_.in_turns ? &turns : nullptr);
    if (!has_work_left(*drawn.c)) {
      result_.reduced = true;
      return;
    }
    if (holds(*drawn.c)) continue;
    if (result_.failure.reason != Reason::kNone) shrink(drawn.tree);
    return;
  }
}

PropertyResult PropertyRun::run() {
  try {
    if (options_.replay) {
      run_given(*options_.replay);
    } else {
      run_drawn();
    }
    // A counterexample whose text does not parse could not be replayed.
    if (result_.failure.reason != Reason::kNone) {
      const std::string error = parse_case(result_.minimal_case, *type_.make());
      if (!error.empty())
        result_.failure.message += fmt::format(
            "\nThe case cannot be replayed, for its text does not read as itself: {}", error);
    }
  } catch (const std::exception& e) {
    // run_case() catches all exceptions of a case; this one is from a generator.
    result_.not_run = fmt::format("a case could not be made: {}", e.what());
  }
  if (result_.reduced) result_.digest = 0;
  result_.held =
      result_.failure.reason == Reason::kNone && !result_.not_run && !result_.not_applicable;
  if (result_.held && result_.cases == 0) {
    result_.held = false;
    result_.not_run = "no case ran";
  }
  return std::move(result_);
}

}  // namespace

std::uint64_t seed_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  const char* const text = std::getenv("TEST_RANDOM_SEED");
  std::uint64_t run = 0;
  if (text && parse_integer(text, run) && run > 1) hash = mix(hash ^ mix(run));
  return hash ? hash : 1;  // 0 stands for "not given"
}

void require_capability(const Requirement& r) {
  const Clause clause = clause_of(r.capability);
  if (clause.device >= r.at_least) return;
  const auto version = [](std::uint64_t tenths) {
    return fmt::format("{}.{}", tenths / 10, tenths % 10);
  };
  std::string text = r.capability == Capability::kComputeCapability
                         ? fmt::format("needs compute capability {} or later; the device has {}",
                                       version(r.at_least), version(clause.device))
                     : r.at_least > 1 ? fmt::format("needs {} {}; the device has {}", r.at_least,
                                                    clause.text, clause.device)
                                      : fmt::format("needs {}; the device has none", clause.text);
  throw CaseNotApplicable{fmt::format("{} ({}, compute capability {}.{})", text,
                                      device_properties().name, device_properties().major,
                                      device_properties().minor)};
}

PropertyResult detail::run_property(std::string_view name, const CaseType& type,
                                    const PropertyOptions& options) {
  return PropertyRun(name, type, options).run();
}

namespace detail {

PropertyOptions session_property_options(std::string_view name, int cases) {
  const SessionOptions& session = session_options();
  PropertyOptions options;
  options.seed = session.seed;
  // A property of one case has nothing to draw, or is too expensive to run twice.
  options.cases = session.cases > 0
                      ? (cases == 1 ? 1 : session.cases)
                      : std::max(1, static_cast<int>(std::lround(cases * session.scale)));
  if (session.fail_fast) options.max_shrinks = 0;
  if (session.replay_property == name) options.replay = session.replay_case;
  return options;
}

// Empty if the device can run properties; otherwise why the property is NOT_RUN.
static std::string device_unusable() {
  static const std::string kError = device_error();
  if (!kError.empty()) return "no GPU answers: " + kError;
  return device_lost().empty() ? "" : std::string(kDeviceLostAfter) + device_lost();
}

static void report_property(std::string_view name, const PropertyResult& result, const char* file,
                            int line) {
  Record& record = current_record();
  record.cases = result.cases;
  record.seed = result.seed;
  record.budget = result.budget;
  if (result.reduced) record.notes["reduced"] = "to LOCKSTEP_WORK";
  testing::Test::RecordProperty("cases", std::to_string(result.cases));
  testing::Test::RecordProperty("seed", std::to_string(result.seed));
  testing::Test::RecordProperty("budget", fmt::format("{:.4g}", result.budget));
  if (result.held && result.cases == 0) {
    record.verdict = Verdict::kNotRun;
    record.reason = "no case was run";
    ADD_FAILURE_AT(file, line) << name << " did not run: no case was run\n  seed: " << result.seed;
    return;
  }
  if (result.held) {
    record.verdict = Verdict::kPass;
    if (result.digest != 0) record.notes["digest"] = fmt::format("{:016x}", result.digest);
    return;
  }
  if (result.failure.reason == Reason::kNone && result.not_applicable) {
    record.verdict = Verdict::kNotApplicable;
    record.reason = *result.not_applicable;
    GTEST_SKIP() << "not applicable: " << record.reason;
  }
  if (result.failure.reason == Reason::kNone) {
    record.verdict = Verdict::kNotRun;
    record.reason = result.not_run.value_or("no reason given");
    ADD_FAILURE_AT(file, line) << name << " did not run: " << record.reason
                               << "\n  seed: " << result.seed;
    return;
  }
  record.verdict = Verdict::kFail;
  record.reason = result.failure.label();
  record.message = result.failure.message;
  record.minimal_case = result.minimal_case;
  record.replay = replay_line(name, result.minimal_case);
  std::string text = fmt::format("{} fails: {}\n  case:   {}\n  why:    {}\n", name, record.reason,
                                 record.minimal_case, indented(record.message));
  if (result.cases > 0 && result.shrink_runs > 0) {
    text += fmt::format("  found:  case {} of seed {}, made smaller in {} steps ({} runs)\n",
                        result.cases, result.seed, result.shrinks, result.shrink_runs);
  } else {
    text += fmt::format("  found:  case {} of seed {}\n", result.cases, result.seed);
  }
  if (!device_lost().empty())
    text += "  device: lost; not made smaller, and what follows is not run\n";
  ADD_FAILURE_AT(file, line) << text << "  replay: " << record.replay;
}

void check_property(std::string_view name,
                    const std::function<PropertyResult(const PropertyOptions&)>& run, int cases,
                    const char* file, int line) {
  PropertyResult result;
  if (std::string unusable = device_unusable(); unusable.empty()) {
    result = run(session_property_options(name, cases));
  } else {
    result.not_run = std::move(unusable);
    result.seed = seed_of(name);
  }
  report_property(name, result, file, line);
}

}  // namespace detail
}  // namespace lockstep
