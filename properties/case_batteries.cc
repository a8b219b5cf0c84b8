#include "properties/case_batteries.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "harness/property/compare.h"
#include "properties/batteries.h"
#include "properties/no_launch.h"
#include "properties/trial.h"

namespace lockstep::properties {
namespace {

Site site_of(const BoundCall& call) {
  return {__FILE__, __LINE__, call.contract->launcher().c_str()};
}

// Makes unrelated calls: of the family's launcher `i` and of the next launcher.
void call_another(const Subject& subject, const AnyCase& unrelated, std::size_t i) {
  const BoundCalls bound = subject.calls(unrelated);
  const std::vector<BoundCall>& calls = bound.calls;
  for (const std::size_t which : {i % calls.size(), (i + 1) % calls.size()}) {
    const BoundCall& call = calls[which];
    call.contract->allocate();
    lockstep::detail::require_success(site_of(call), call.launch(nullptr));
    lockstep::detail::require_success(site_of(call), cudaDeviceSynchronize());
  }
}

// Applies a battery to each of a case's calls, with a trial and another call.
void for_each_call(
    const Subject& subject, const AnyCase& c,
    const std::function<void(Trial&, const std::function<void()>& another)>& require) {
  const auto other = with_other_contents(subject, c), unrelated = another_case(subject, c);
  const BoundCalls judged = subject.calls(c), first = subject.calls(c),
                   others = subject.calls(*other);
  for (std::size_t i = 0; i < judged.calls.size(); ++i) {
    first.calls[i].contract->allocate(), others.calls[i].contract->allocate();
    Trial trial(judged.calls[i], first.calls[i], others.calls[i]);
    require(trial, [&] { call_another(subject, *unrelated, i); });
  }
}

void for_each_call(const Subject& subject, const AnyCase& c, void (*require)(Trial&)) {
  for_each_call(subject, c, [&](Trial& trial, const std::function<void()>&) { require(trial); });
}

// Applies a battery to each of a case's calls to which it `applies`, with a trial and a seed that
// the case determines.
void for_each_call_with_seed(const Subject& subject, const AnyCase& c,
                             void (*require)(Trial&, std::uint64_t seed),
                             bool (*applies)(const Contract&)) {
  const BoundCalls judged = subject.calls(c), first = subject.calls(c);
  const std::uint64_t seed = seed_of_case(c);
  for (std::size_t i = 0; i < judged.calls.size(); ++i) {
    if (!applies(*judged.calls[i].contract)) continue;
    first.calls[i].contract->allocate();
    Trial trial(judged.calls[i], first.calls[i], first.calls[i]);
    require(trial, seed);
  }
}

// A case with the choice of a promise: the law calls the launchers with arguments at the ends of
// the legal ranges.
class PromisedCase final : public AnyCase {
 public:
  PromisedCase(const Subject& subject, std::unique_ptr<AnyCase> c, std::string promise)
      : promise(std::move(promise)), subject_(subject), case_(std::move(c)) {}
  std::unique_ptr<AnyCase> copy() const override {
    return std::make_unique<PromisedCase>(subject_, case_->copy(), promise);
  }
  void fields(FieldVisitor& field) override {
    case_->fields(field);
    field("promise", promise,
          lockstep::detail::each_or_one_of(
              [subject = &subject_, c = std::shared_ptr<AnyCase>(case_->copy())] {
                return promises_of(*subject, *c);
              }));
  }
  void normalise() override {
    case_->normalise();
    promise = lockstep::detail::one_or_each([&] { return promises_of(subject_, *case_); }, promise);
  }
  std::int64_t work() const override { return case_->work(); }
  const AnyCase& without_promise() const { return *case_; }

  std::string promise;

 private:
  static std::vector<std::string> promises_of(const Subject& subject, const AnyCase& c) {
    const BoundCalls calls = subject.calls(c);
    return lockstep::detail::promises_of(lockstep::detail::contracts_of(calls));
  }

  const Subject& subject_;
  std::unique_ptr<AnyCase> case_;
};

// A law for cases that `fresh` makes.
Law<Subject> battery_law(std::string name, std::unique_ptr<AnyCase> (*fresh)(const Subject&),
                         std::function<void(const Subject&, const AnyCase&)> check,
                         const LawOptions& options, std::source_location where) {
  auto judge = [fresh, check = std::move(check), in_turns = options.in_turns](
                   std::string_view name, const Subject& subject, PropertyOptions options) {
    options.in_turns = options.in_turns || in_turns;
    const lockstep::detail::CaseType cases = {
        .make = [&] { return fresh(subject); },
        .check = [&](const AnyCase& c) { check(subject, c); },
    };
    return lockstep::detail::run_property(name, cases, options);
  };
  return {std::move(name), options, std::move(judge), where};
}

}  // namespace

void require_no_work(const BoundCalls& calls) {
  for (const BoundCall& call : calls.calls) {
    call.contract->allocate(/*null_where_empty=*/true);
    require_no_launch([&](cudaStream_t stream) {
      lockstep::detail::require_success(site_of(call), call.launch(stream));
    });
  }
}

namespace battery {

void require_stream_order_of(const Subject& subject, const AnyCase& c) {
  for_each_call(subject, c, require_stream_order);
}

void require_capture_of(const Subject& subject, const AnyCase& c) {
  for_each_call(subject, c, require_capture);
}

void require_errors_returned_of(const Subject& subject, const AnyCase& c) {
  for_each_call(subject, c, require_errors_returned);
}

void require_no_schedule_of(const Subject& subject, const AnyCase& c) {
  for_each_call(subject, c, require_no_schedule);
}

void require_grid_of(const Subject& subject, const AnyCase& c) {
  for_each_call(subject, c, require_grid);
}

void require_no_state_of(const Subject& subject, const AnyCase& c) {
  const auto other = with_other_contents(subject, c), unrelated = another_case(subject, c);
  const BoundCalls judged = subject.calls(c), twins = subject.calls(c), first = subject.calls(c),
                   others = subject.calls(*other);
  for (std::size_t i = 0; i < judged.calls.size(); ++i) {
    first.calls[i].contract->allocate(), others.calls[i].contract->allocate();
    Trial one(judged.calls[i], first.calls[i], others.calls[i]),
        two(twins.calls[i], first.calls[i], others.calls[i]);
    require_no_state(one, two, [&] { call_another(subject, *unrelated, i); });
  }
}

// The same arrays with other arguments: one field of the case is changed.
void require_no_state_of_arguments_of(const Subject& subject, const AnyCase& c) {
  constexpr int kFields = 4, kFewFields = 2;  // the case determines which ones
  const std::vector<std::unique_ptr<AnyCase>> redrawn =
      with_one_field_redrawn(c, may_reduce() ? kFewFields : kFields);
  // One of these cases, determined by the case, is also called from another host thread.
  const std::size_t meets = seed_of_case(c) % std::max<std::size_t>(redrawn.size(), 1);
  for (std::size_t k = 0; k < redrawn.size(); ++k) {
    const BoundCalls ones = subject.calls(c), others = subject.calls(*redrawn[k]),
                     fresh = subject.calls(*redrawn[k]);
    for (const BoundCall& one : ones.calls) {
      for (std::size_t i = 0; i < others.calls.size(); ++i) {
        if (others.calls[i].contract->launcher() == one.contract->launcher())
          require_no_state_of_arguments(one, others.calls[i], fresh.calls[i], k == meets);
      }
    }
  }
}

void require_no_state_between_devices_of(const Subject& subject, const AnyCase& c) {
  require_capability({Capability::kDevices, 2});
  const auto other = with_other_contents(subject, c);
  const BoundCalls judged = subject.calls(c), first = subject.calls(c),
                   others = subject.calls(*other), judged_there = subject.calls(c),
                   first_there = subject.calls(c), others_there = subject.calls(*other);
  for (std::size_t i = 0; i < judged.calls.size(); ++i) {
    first.calls[i].contract->allocate(), others.calls[i].contract->allocate();
    Trial one(judged.calls[i], first.calls[i], others.calls[i]);
    std::optional<Trial> two;
    {
      const OnOtherDevice other_device;
      first_there.calls[i].contract->allocate(), others_there.calls[i].contract->allocate();
      two.emplace(judged_there.calls[i], first_there.calls[i], others_there.calls[i]);
    }
    require_no_state_between_devices(one, *two);
  }
}

void require_same_without_other_properties_of(const Subject& subject, const AnyCase& c) {
  require_capability({Capability::kSimulator});  // silicon's properties cannot be changed
  const BoundCalls bound = subject.calls(c);
  for (const BoundCall& call : bound.calls)
    require_same_without_other_properties(call, seed_of_case(c));
}

void require_no_effect_of_immaterial_arguments_of(const Subject& subject, const AnyCase& c) {
  for_each_call_with_seed(
      subject, c, require_no_effect_of_immaterial_arguments,
      [](const Contract& contract) { return !contract.immaterial_arguments().empty(); });
}

void require_reports_filled_of(const Subject& subject, const AnyCase& c) {
  for_each_call_with_seed(subject, c, require_reports_filled,
                          [](const Contract& contract) { return !contract.reported().empty(); });
}

void require_far_pieces_of(const Subject& subject, const AnyCase& c) {
  // A call without spreads has, for example, a single row.
  for_each_call_with_seed(subject, c, require_far_pieces,
                          [](const Contract& contract) { return !contract.spreads().empty(); });
}

void require_far_ends_of(const Subject& subject, const AnyCase& c) {
  require_capability({Capability::kSimulator});  // silicon would execute the whole grid
  constexpr int kDrawn = 200;
  std::set<std::string> left, judged;  // launchers
  auto at = c.copy();
  for (int i = 0; i < kDrawn && (i == 0 || !left.empty()); ++i) {
    const BoundCalls calls = subject.calls(*at), first = subject.calls(*at);
    for (std::size_t k = 0; k < calls.calls.size(); ++k) {
      const Contract& contract = *calls.calls[k].contract;
      const std::string& launcher = contract.launcher();
      if (contract.lengthenings().empty() || judged.contains(launcher)) continue;
      left.insert(launcher);
      if (!may_have_far_ends(contract)) continue;
      left.erase(launcher), judged.insert(launcher);
      first.calls[k].contract->allocate();
      Trial trial(calls.calls[k], first.calls[k], first.calls[k]);
      require_far_ends(trial, seed_of_case(*at));
    }
    at = another_case(subject, *at);
  }
}

void require_promises_of(const Subject& subject, const AnyCase& c, const std::string& promise,
                         Arrays arrays, unsigned says) {
  const BoundCalls bound = subject.calls(c);
  for (const BoundCall& call : bound.calls) {
    const Contract& contract = *call.contract;
    REQUIRE_LAW(arrays == Arrays::kStrided || contract.spreads().empty(),
                "{} has strides, and no battery tries them: with_batteries<call_of, Case, "
                "Arrays::kStrided> does",
                contract.launcher());
    unsigned of_call = 0;
    if (!contract.immaterial_arguments().empty()) of_call |= kSaysImmaterial;
    if (!contract.lengthenings().empty()) of_call |= kSaysLengths;
    if (!contract.reported().empty()) of_call |= kSaysReports;
    REQUIRE_LAW((of_call & ~says) == 0,
                "{} says more (Says {}) than the family's batteries try ({}): with_batteries",
                contract.launcher(), of_call, says);
    const std::vector<std::string> promises = promises_named(bound, call, promise);
    require_promises(call, promises);
    if (!promises.empty()) require_same_limits(call, promises);
  }
}

}  // namespace battery

Laws<Subject> batteries_of(Arrays arrays, unsigned says, std::source_location where) {
  using namespace battery;
  const LawOptions options = {.cases = 20, .cost = 20, .in_turns = true},
                   few = {.cases = 10, .cost = 40, .in_turns = true},
                   fewest = {.cases = 5, .cost = 40, .in_turns = true};
  Laws<Subject> laws;
  const auto add = [&](const char* name, void (*check)(const Subject&, const AnyCase&),
                       const LawOptions& cases) {
    laws.push_back(battery_law(
        name, [](const Subject& subject) { return subject.fresh(); }, check, cases, where));
  };
  add("WorksOnItsStream", require_stream_order_of, options);
  add("CanBeCaptured", require_capture_of, options);
  add("ReturnsEachErrorOfCuda", require_errors_returned_of, few);
  add("GivesTheSameUnderEachSchedule", require_no_schedule_of, fewest);
  add("LaunchesTheGridItPromises", require_grid_of, options);
  add("KeepsNoState", require_no_state_of, few);
  add("KeepsNoStateOfArguments", require_no_state_of_arguments_of, few);
  add("KeepsNoStateBetweenDevices", require_no_state_between_devices_of, few);
  add("NeedsNoOtherProperty", require_same_without_other_properties_of, few);
  laws.push_back(battery_law(
      "TakesWhatItPromises",
      [](const Subject& subject) -> std::unique_ptr<AnyCase> {
        return std::make_unique<PromisedCase>(subject, subject.fresh(), lockstep::detail::kEach);
      },
      [arrays, says](const Subject& subject, const AnyCase& c) {
        const auto& promised = static_cast<const PromisedCase&>(c);
        require_promises_of(subject, promised.without_promise(), promised.promise, arrays, says);
      },
      options, where));
  if ((says & kSaysImmaterial) != 0)
    add("HoldsForImmaterialArguments", require_no_effect_of_immaterial_arguments_of, options);
  if ((says & kSaysReports) != 0) add("FillsInWhatItReports", require_reports_filled_of, few);
  if ((says & kSaysLengths) != 0) add("HoldsAtItsFarEnds", require_far_ends_of, options);
  if (arrays == Arrays::kStrided) add("ReachesFarElements", require_far_pieces_of, options);
  return laws;
}

PropertyResult judge_on_second_device(std::string_view name, const std::vector<AppliedLaw>& laws,
                                      const PropertyOptions& options) {
  PropertyOptions once;
  once.cases = 1;
  PropertyResult all = run_property<NoFields>(
      name,
      [](const NoFields&) {
        require_capability({Capability::kDevices, 2});
      },
      once);
  all.cases = 0;
  if (!all.held) return all;
  const OnOtherDevice other_device;
  bool replayed = false;
  for (const AppliedLaw& law : laws) {
    if (law.options.cost >= kCostOfHugeWork && !options.replay) continue;
    PropertyOptions of_law = options;
    of_law.cases = std::min(options.cases, law.options.cases);
    of_law.in_turns = true;
    const std::string prefix = std::string(law.name) + ": ";
    if (options.replay) {
      if (!options.replay->starts_with(prefix)) continue;
      of_law.replay = options.replay->substr(prefix.size());
      replayed = true;
    }
    PropertyResult result = law.judge(of_law);
    all.cases += result.cases;
    all.budget = std::max(all.budget, result.budget);
    if (result.held || result.not_applicable) continue;
    result.cases = all.cases;
    result.minimal_case = prefix + result.minimal_case;
    if (result.not_run) result.not_run = prefix + *result.not_run;
    return result;
  }
  if (options.replay && !replayed) all.held = false, all.not_run = "--case: no law of that name";
  return all;
}

}  // namespace lockstep::properties
