#include "harness/property/property.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "harness/device/device.h"
#include "harness/ledger/session.h"
#include "harness/property/case.h"
#include "harness/property/digest.h"
#include "harness/property/replay.h"
#include "rapidcheck/detail/TestListenerAdapter.h"

namespace lockstep {
namespace {

struct Clause {
  const char* text;      // what is required
  std::uint64_t device;  // what the device has
};

Clause clause_of(Capability capability) {
  const DeviceProperties& d = device_properties();
  switch (capability) {
    case Capability::kClusters:
      return {"thread-block clusters", d.max_cluster_blocks > 1};
    case Capability::kClusterSize16:
      return {"clusters of 16 blocks", d.max_cluster_blocks >= 16};
    case Capability::kManagedMemory:
      return {"managed memory", d.managed_memory};
    case Capability::kCooperativeLaunch:
      return {"cooperative launch", d.cooperative_launch};
    case Capability::kGlobalBytes:
      return {"bytes of global memory", d.global_bytes};
    case Capability::kSharedOptinBytes:
      return {"bytes of shared memory in a block by opting in", d.shared_bytes_per_block_optin};
    case Capability::kDevices:
      return {"devices", static_cast<std::uint64_t>(device_count())};
    case Capability::kComputeCapability:
      return {"tenths of compute capability", static_cast<std::uint64_t>(10 * d.major + d.minor)};
    case Capability::kWgmma:
      return {"multiplication of matrices by a warpgroup", d.major == 9 && d.minor == 0};
    case Capability::kTensorCopies:
      return {"copies through tensor maps", d.major >= 9};
    case Capability::kSimulator:
      return {"the simulated GPU", d.simulated};
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

// One property being run: which of its cases broke it, and which were tried. RapidCheck calls
// breaks() for every case that it generates or shrinks to.
class PropertyRun {
 public:
  PropertyRun(std::string_view name, const PropertyOptions& options);

  // Runs one case: whether it broke the property. Once a case has failed, further calls count as
  // shrinking: each text runs at most once, and when max_shrinks or the time for it are spent, or
  // the device is lost, nothing runs any more.
  bool breaks(const std::string& text, const std::function<void()>& body);
  // Whether shrinking should offer more candidates.
  bool goes_on() const {
    return !stop_ && result_.shrink_runs < options_.max_shrinks &&
           std::chrono::steady_clock::now() - failed_at_ <
               std::chrono::duration<double>(options_.max_shrink_seconds);
  }
  // Whether a case already failed, so that `text` is a candidate for a smaller one, and it has not
  // been tried.
  bool worth_trying(const std::string& text) const;

  std::uint64_t seed() const { return result_.seed; }
  int cases() const { return options_.cases; }
  PropertyResult& result() { return result_; }
  PropertyResult finish();

 private:
  std::string name_;
  PropertyOptions options_;
  PropertyResult result_;
  std::set<std::string> tried_;
  std::chrono::steady_clock::time_point failed_at_ =
      std::chrono::steady_clock::time_point::max();  // the first case that did
  bool stop_ = false;                                // nothing more may run
};

PropertyRun::PropertyRun(std::string_view name, const PropertyOptions& options)
    : name_(name), options_(options) {
  result_.seed = options.seed ? options.seed : seed_of(name);
  if (options_.cases <= 0) options_.cases = kDefaultCases;
}

bool PropertyRun::worth_trying(const std::string& text) const {
  return text != result_.minimal_case && !tried_.contains(text);
}

bool PropertyRun::breaks(const std::string& text, const std::function<void()>& body) {
  const bool shrinking = result_.failure.reason != Reason::kNone;
  if (shrinking) {
    if (text == result_.minimal_case) return true;
    if (!goes_on() || !tried_.insert(text).second) return false;
    ++result_.shrink_runs;
  } else if (stop_) {
    return true;
  }
  // Where a mutant is judged, a case that never comes to what was changed holds as it did before.
  if (!shrinking && extension().begin_part && extension().begin_part() == 0) {
    ++result_.cases;
    return false;
  }
  CaseOutcome outcome = run_case(body);
  if (!outcome.device_lost.empty()) {
    stop_ = true;
    mark_device_lost(fmt::format("{} with {}: {}", name_, text, outcome.device_lost));
  }
  if (outcome.failure.reason != Reason::kNone) {
    result_.shrinks += shrinking;
    if (!shrinking) {
      ++result_.cases;
      failed_at_ = std::chrono::steady_clock::now();
    }
    result_.failure = std::move(outcome.failure);
    result_.minimal_case = text;
    return true;
  }
  if (shrinking) return false;  // a candidate that held, or that could not run
  if (outcome.not_applicable && result_.cases > 0) {
    outcome.not_run = fmt::format(
        "{} earlier cases ran, but the case '{}' {}: move what needs it to a property of its own",
        result_.cases, text, *outcome.not_applicable);
    outcome.not_applicable.reset();
  }
  if (outcome.not_run || outcome.not_applicable) {
    stop_ = true;
    if (outcome.not_run) {
      result_.not_run = fmt::format("{} (case: {})", *outcome.not_run, text);
    } else {
      result_.not_applicable = std::move(outcome.not_applicable);
    }
    return true;  // ends RapidCheck's search
  }
  ++result_.cases;
  result_.budget = std::max(result_.budget, outcome.budget);
  if (outcome.digest != 0)
    result_.digest = digest_of(&outcome.digest, sizeof outcome.digest, result_.digest);
  return false;
}

PropertyResult PropertyRun::finish() {
  result_.held =
      result_.failure.reason == Reason::kNone && !result_.not_run && !result_.not_applicable;
  if (result_.held && result_.cases == 0) {
    result_.held = false;
    result_.not_run = "no case ran";
  }
  return std::move(result_);
}

// Hands the property to RapidCheck's driver.
void drive(PropertyRun& run, const rc::Gen<rc::detail::CaseDescription>& property) {
  rc::detail::TestParams params;
  params.seed = run.seed();
  params.maxSuccess = run.cases();
  rc::detail::TestMetadata metadata;
  rc::detail::TestListenerAdapter silent;
  const std::unordered_map<std::string, rc::detail::Reproduce>
      nothing_to_reproduce;  // replay goes by the text of a case instead
  const rc::detail::TestResult outcome =
      rc::detail::checkProperty(property, metadata, params, silent, nothing_to_reproduce);
  // What RapidCheck concluded must agree with what was seen here: anything else would be a case
  // that nobody judged.
  const bool succeeded = outcome.template is<rc::detail::SuccessResult>();
  PropertyResult& seen = run.result();
  const bool all_held =
      seen.failure.reason == Reason::kNone && !seen.not_run && !seen.not_applicable;
  if (succeeded == all_held &&
      (!succeeded || seen.cases == static_cast<std::uint64_t>(run.cases())))
    return;
  if (seen.failure.reason != Reason::kNone) return;
  std::string text = "RapidCheck ended otherwise than its cases";
  if (outcome.template is<rc::detail::Error>())
    text += ": " + outcome.template get<rc::detail::Error>().description;
  if (outcome.template is<rc::detail::GaveUpResult>())
    text += ": " + outcome.template get<rc::detail::GaveUpResult>().description;
  if (outcome.template is<rc::detail::FailureResult>())
    text += ": " + outcome.template get<rc::detail::FailureResult>().description;
  seen.not_run = text;
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
  PropertyRun run(name, options);
  if (options.replay) {
    const auto replayed = type.make();
    if (const std::string error = parse_case(*options.replay, *replayed); !error.empty()) {
      run.result().not_run = "--case: " + error;
    } else {
      run.breaks(print_case(*replayed), [&] { type.check(*replayed); });
    }
    return run.finish();
  }
  // RapidCheck is handed cases as their texts. Each stands for what it reads as, so that what fails
  // is what replays.
  const auto case_of = [&](const std::string& text) {
    auto c = type.make();
    if (const std::string error = parse_case(text, *c); !error.empty()) {
      throw std::logic_error("the generated case '" + text + "' could not be replayed: " + error);
    }
    return c;
  };
  const auto describe = [&](const std::string& text) {
    rc::detail::CaseDescription description;
    const bool broken = run.breaks(text, [&] { type.check(*case_of(text)); });
    description.result = {
        broken ? rc::detail::CaseResult::Type::Failure : rc::detail::CaseResult::Type::Success, ""};
    description.example = [] { return rc::detail::Example(); };
    return description;
  };
  // Shrinking stops where the run says so, and a case that was tried before is not offered again.
  const auto simpler = [&](const std::string& text) {
    std::vector<std::string> candidates;
    if (!run.goes_on()) return rc::seq::fromContainer(std::move(candidates));
    for (const auto& c : simpler_cases(*case_of(text))) candidates.push_back(print_case(*c));
    std::erase_if(candidates,
                  [&](const std::string& candidate) { return !run.worth_trying(candidate); });
    return rc::seq::fromContainer(std::move(candidates));
  };
  std::uint64_t turn = 0;
  const rc::Gen<rc::detail::CaseDescription> property = [&](const rc::Random& random, int) {
    Bits bits(rc::Random(random).next());
    if (options.in_turns) bits.take_turns(turn++, seed_of(name));
    const auto sampled = type.make();
    sample_case(*sampled, bits);
    return rc::shrinkable::map(rc::shrinkable::shrinkRecur(print_case(*sampled), simpler),
                               describe);
  };
  drive(run, property);
  return run.finish();
}

namespace detail {

PropertyOptions session_property_options(std::string_view name, int cases) {
  const SessionOptions& session = session_options();
  PropertyOptions options;
  options.seed = session.seed;
  // A property of one case has nothing to draw, or is too expensive for two.
  options.cases = session.cases > 0
                      ? (cases == 1 ? 1 : session.cases)
                      : std::max(1, static_cast<int>(std::lround(cases * session.scale)));
  if (session.fail_fast) options.max_shrinks = 0;
  if (session.replay_property == name) options.replay = session.replay_case;
  return options;
}

// Empty when the device can run properties; else why the property is NOT_RUN.
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
