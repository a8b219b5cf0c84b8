#include "simulator/runtime/mutation/candidates.h"

#include <algorithm>
#include <string_view>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/modules.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {
namespace {

// Launches with the same results after which a candidate is watched that has survived nothing yet.
// Most candidates differ in the first launch that reaches them.
constexpr unsigned kWatchedFrom = 2;

}  // namespace

Candidates::Candidates(const Plan& plan) : plan_(plan) {
  for (const PlannedMutant& m : plan.mutants) {
    if (!m.of_call()) candidates_.emplace_back().mutant = &m;
  }
}

bool Candidates::need(std::uint64_t part) const {
  std::vector<char> asked(plan_.sets.size());
  for (const Candidate& c : candidates_) {
    if (!c.needs_more()) continue;
    if (!c.mutant->parts) return true;
    if (char& known = asked[*c.mutant->parts];
        known++ == 0 && plan_.sets[*c.mutant->parts].contains(part))
      return true;
  }
  return false;
}

Candidates::Code& Candidates::code_of(FatBinary& binary, int device) {
  FatBinary::Loaded& loaded = binary.loaded.at(device);
  Code& code = codes_[{&binary, device}];
  if (loaded.seen_by_candidates) return code;
  loaded.seen_by_candidates = true;
  const std::vector<std::string_view> texts(loaded.texts.begin(), loaded.texts.end());
  code = {hash_of(loaded.texts), {}, {}};
  std::vector<Candidate*> its;
  std::vector<mutation::Place> places;
  for (Candidate& c : candidates_) {
    if (c.mutant->code != code.hash) continue;
    c.beside.erase(device);  // of a module that is no more
    its.push_back(&c);
    places.push_back(c.mutant->place);
  }
  if (its.empty()) return code;
  std::unique_ptr<engine::MutableCode>& parsed = parsed_[code.hash];
  if (parsed == nullptr) parsed = engine::parse_again(texts);
  auto operations = parsed->operations(*loaded.module, places);
  for (std::size_t i = 0; i < its.size(); ++i) {
    auto& [kernel, pcs] = operations[i];
    code.by_kernel[kernel].push_back({its[i], std::move(pcs), !kernel.empty()});
  }
  return code;
}

engine::Exchange* Candidates::beside(Candidate& c, Runtime& runtime, FatBinary& binary,
                                     int device) {
  if (c.whole || !c.refused.empty() || code_of(binary, device).hash != c.mutant->code)
    return nullptr;
  std::unique_ptr<engine::Exchange>& made = c.beside[device];
  if (made == nullptr) {
    made = parsed_.at(c.mutant->code)
               ->prepare(c.mutant->place, *binary.loaded.at(device).module, *runtime.memory, device,
                         runtime.settings.registers, &c.refused);
    c.whole = made == nullptr && c.refused.empty();
  }
  return made.get();
}

void Candidates::gather(std::vector<Entry>& entries, std::uint64_t part) {
  std::erase_if(entries, [](const Entry& e) { return !e.candidate->needs_more(); });
  for (const Entry& e : entries) {
    const Candidate& c = *e.candidate;
    if (part != 0 && c.differed == part) continue;  // a process has judged the rest of the part
    if (!c.mutant->parts || plan_.sets[*c.mutant->parts].contains(part)) entries_.push_back(&e);
  }
}

void Candidates::begin(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
                       const engine::LaunchConfig& config, std::uint64_t part,
                       std::atomic<int>* trying) {
  runtime_ = &runtime;
  binary_ = &binary;
  trying_ = trying;
  part_ = part;
  device_ = runtime.current().ordinal;
  checks_initialisation_ = (config.checks & check::kInitialisation) != 0;
  next_ = 0;
  entries_.clear();
  Code& code = code_of(binary, device_);
  for (const std::string_view name : {std::string_view(kernel.name()), std::string_view()}) {
    if (const auto it = code.by_kernel.find(std::string(name)); it != code.by_kernel.end())
      gather(it->second, part);
  }
  // Counters are those of the unchanged code.
  watch_ = plan_.counters.contains(part) ? nullptr : watch(code, kernel.name());
  engine::Exchange* const watched = watch_ == nullptr ? nullptr : watch_->kernel->code.get();
  comparable_ = !entries_.empty() && trial_.begin(kernel, config, *runtime.memory, watched);
  if (comparable_ && watch_ != nullptr) note_reached();
}

// The watch of the present launch; nullptr if nothing is to be watched.
Candidates::Watch* Candidates::watch(Code& code, const std::string& kernel) {
  std::vector<Candidate*> wanted;
  for (const Entry* e : entries_) {
    Candidate& c = *e->candidate;
    if (!e->of_kernel) return nullptr;  // whether it is reached shows in the unchanged code alone
    if ((c.mutant->survived || c.same >= kWatchedFrom) && !c.unwatchable) wanted.push_back(&c);
  }
  if (wanted.empty()) return nullptr;
  Watch& watch = code.watches[kernel];
  const bool has_all = std::all_of(wanted.begin(), wanted.end(), [&](const Candidate* c) {
    return std::find(watch.of.begin(), watch.of.end(), c) != watch.of.end();
  });
  if (has_all) return &watch;
  std::vector<mutation::Place> places;
  for (const Candidate* c : wanted) places.push_back(c->mutant->place);
  watch.of = std::move(wanted);
  watch.kernel =
      parsed_.at(code.hash)->watch(places, *binary_->loaded.at(device_).module, *runtime_->memory,
                                   device_, runtime_->settings.registers);
  bool any = false;
  for (std::size_t i = 0; i < watch.of.size(); ++i) {
    const bool is_watched = watch.kernel && watch.kernel->mutants[i].watched;
    watch.of[i]->unwatchable = !is_watched;
    any |= is_watched;
  }
  if (any) return &watch;
  code.watches.erase(kernel);
  return nullptr;
}

void Candidates::note_reached() {
  const std::vector<std::uint32_t>& instructions = watch_->kernel->instructions;
  reached_.clear();
  for (std::uint32_t pc = 0; pc < instructions.size() && pc < trial_.ran().size(); ++pc) {
    if (instructions[pc] == ~0u || (trial_.ran()[pc] & engine::kReached) == 0) continue;
    if (instructions[pc] >= reached_.size()) reached_.resize(instructions[pc] + 1);
    reached_[instructions[pc]] = 1;
  }
}

const engine::WatchedKernel::Mutant* Candidates::watched(const Candidate& c) const {
  if (!comparable_ || watch_ == nullptr) return nullptr;
  const auto it = std::find(watch_->of.begin(), watch_->of.end(), &c);
  if (it == watch_->of.end()) return nullptr;
  const auto& mutant = watch_->kernel->mutants[static_cast<std::size_t>(it - watch_->of.begin())];
  return mutant.watched ? &mutant : nullptr;
}

bool Candidates::has_signal(const engine::WatchedKernel::Mutant& mutant) const {
  return std::any_of(mutant.pcs.begin(), mutant.pcs.end(), [&](std::uint32_t pc) {
    return (trial_.ran().at(pc) & engine::kExecuted) != 0;
  });
}

bool Candidates::came_to(const Entry& entry) const {
  const std::uint32_t instruction = entry.candidate->mutant->place.instruction;
  if (watch_ != nullptr) return instruction < reached_.size() && reached_[instruction] != 0;
  return std::any_of(entry.pcs.begin(), entry.pcs.end(), [&](std::uint32_t pc) {
    return pc < trial_.ran().size() && (trial_.ran()[pc] & engine::kReached) != 0;
  });
}

Candidate* Candidates::next() {
  while (next_ < entries_.size()) {
    const Entry& entry = *entries_[next_++];
    Candidate& c = *entry.candidate;
    if (comparable_ && !came_to(entry)) continue;
    if (c.reached != part_ || c.parts_reached == 0) ++c.parts_reached;
    c.reached = part_;
    const engine::WatchedKernel::Mutant* const seen = watched(c);
    const bool differs = seen == nullptr || has_signal(*seen),
               felt = differs || !seen->keeps_initialisation;
    if (felt) c.felt.add(part_);
    if (!differs && (!felt || !checks_initialisation_)) {
      ++c.same;
      continue;
    }
    engine::Exchange* const mutant = beside(c, *runtime_, *binary_, device_);
    if (!c.refused.empty() || c.whole) return undone(c);
    if (comparable_) {
      mutant->exchange();
      *trying_ = c.mutant->id;
      const bool same = trial_.leaves_the_same(plan_.counters.contains(part_));
      *trying_ = 0;
      mutant->exchange();
      if (same) {
        ++c.same;
        continue;
      }
    }
    if (c.differed != part_ || c.parts_differed == 0) ++c.parts_differed;
    c.differed = part_;
    return undone(c);
  }
  return nullptr;
}

Candidate* Candidates::undone(Candidate& c) {
  if (comparable_) trial_.undo();
  return &c;
}

std::optional<engine::Outcome> Candidates::adopt() {
  return comparable_ ? trial_.adopt() : std::nullopt;
}

}  // namespace lockstep::runtime
