#include "simulator/runtime/mutation/candidates.h"

#include <algorithm>
#include <string_view>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/modules.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

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
  code = {hash_of(loaded.texts), {}};
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
  for (std::size_t i = 0; i < its.size(); ++i)
    code.by_kernel[operations[i].kernel].push_back({its[i], std::move(operations[i].pcs)});
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
  next_ = 0;
  entries_.clear();
  Code& code = code_of(binary, device_);
  for (const std::string_view name : {std::string_view(kernel.name()), std::string_view()}) {
    if (const auto it = code.by_kernel.find(std::string(name)); it != code.by_kernel.end())
      gather(it->second, part);
  }
  comparable_ = !entries_.empty() && trial_.begin(kernel, config, *runtime.memory);
}

bool Candidates::came_to(const Entry& entry) const {
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
    engine::Exchange* const mutant = beside(c, *runtime_, *binary_, device_);
    if (!c.refused.empty() || c.whole) return &c;
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
    return &c;
  }
  return nullptr;
}

}  // namespace lockstep::runtime
