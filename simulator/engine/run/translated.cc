#include "simulator/engine/run/translated.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "simulator/engine/launch/per_thread.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/run/lean_answers.h"
#include "simulator/engine/run/module.h"
#include "simulator/engine/run/splits.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::engine {
namespace {

const translate::WarpLayout kWarpLayout = {
    offsetof(Warp, pc),
    offsetof(Warp, event),
    offsetof(Warp, time_slice),
    offsetof(Warp, active),
    offsetof(Warp, limit),
    {offsetof(Warp, uniform), offsetof(UniformValues, parameters), offsetof(UniformValues, ctaid),
     offsetof(UniformValues, ntid), offsetof(UniformValues, nctaid),
     offsetof(UniformValues, shuffles), offsetof(UniformValues, votes)},
    {offsetof(UniformValues, ranges), offsetof(UniformValues, generation),
     offsetof(UniformValues, changes), offsetof(UniformValues, unwritten), kCacheSlots,
     sizeof(CachedRange), offsetof(CachedRange, begin), offsetof(CachedRange, delta),
     offsetof(CachedRange, silent), offsetof(Warp, overlapped)},
    split_calls()};

// A warp's register file as it was before a run of operations.
struct Before {
  AlignedBytes file;
  std::size_t bytes = 0;
};

std::string hexadecimal(const std::byte* value, std::size_t bytes) {
  std::string text = "0x";
  char digits[4];
  for (std::size_t i = bytes; i-- > 0;) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(value[i]));
    text += digits;
  }
  return text;
}

// Of a lane; 0: a predicate.
std::size_t bytes_written(const Program& p, std::uint32_t pc, Slot slot) {
  const Op& op = p.ops[pc];
  if (op.action == program::Action::kSync) {
    const auto kind = op.as<program::SyncFields>().kind();
    const bool is_vote = kind >= program::SyncKind::kVoteAll && kind <= program::SyncKind::kVoteUni;
    return is_vote || slot == op.dst2 ? 0 : sizeof(std::uint32_t);
  }
  const bool lean = translate::lean_of(op) != translate::Lean::kNo;
  return lean ? op.width : p.meanings[pc].bytes[0];
}

// The operation of the run that wrote a place of the register file last, and where its destination
// begins.
struct Writer {
  std::uint32_t pc = 0;
  Slot slot = 0;
  std::size_t bytes = 0;  // of a lane; 0: a predicate
};
Writer writer_of(const Program& p, const translate::Run& run, std::size_t place) {
  for (std::uint32_t pc = run.end; pc-- > run.begin;) {
    for (std::uint32_t u = p.use_begin[pc]; u < p.use_begin[pc + 1]; ++u) {
      const OperandUse& use = p.uses[u];
      if (use.role != OperandUse::Role::kWrite || use.slot > place) continue;
      const std::size_t bytes = bytes_written(p, pc, use.slot);
      if (place - use.slot < (bytes == 0 ? 4 : kWarpSize * bytes)) return {pc, use.slot, bytes};
    }
  }
  return {run.begin, static_cast<Slot>(place), 1};  // nobody should have written there
}

// The code has loaded what a handler would have reported.
[[noreturn]] void stop_at_load(const Warp& w, std::uint32_t pc, const char* what) {
  const Block& b = *w.block;
  std::fprintf(stderr,
               "lockstep: LOCKSTEP_TRANSLATE=compare: the translation of kernel %s was wrong\n"
               "  at line %d of the PTX: %s\n"
               "  by block (%u,%u,%u), warp %u\n"
               "  it executes a load that is %s\n"
               "  Please report this: LOCKSTEP_TRANSLATE=off runs the program without it.\n",
               b.launch->kernel->demangled.c_str(), b.program->origin(pc).ptx_line,
               site_of(*b.program, pc).to_string().c_str(), b.ctaid.x, b.ctaid.y, b.ctaid.z,
               w.index, what);
  std::abort();
}

[[noreturn]] void stop(const Warp& w, const translate::Run& run, std::size_t place,
                       const std::byte* translated, const std::byte* interpreted) {
  const Block& b = *w.block;
  const Writer at = writer_of(*b.program, run, place);
  std::uint32_t lane = 0;
  std::string is, expected;
  if (at.bytes == 0) {
    LaneMask one, other;
    std::memcpy(&one, translated + at.slot, sizeof one);
    std::memcpy(&other, interpreted + at.slot, sizeof other);
    while ((((one ^ other) >> lane) & 1) == 0) ++lane;
    is = std::to_string(one >> lane & 1);
    expected = std::to_string(other >> lane & 1);
  } else {
    lane = static_cast<std::uint32_t>((place - at.slot) / at.bytes);
    is = hexadecimal(translated + at.slot + lane * at.bytes, at.bytes);
    expected = hexadecimal(interpreted + at.slot + lane * at.bytes, at.bytes);
  }
  const Dim3 thread = thread_of(*b.launch, w.index * kWarpSize + lane);
  std::fprintf(stderr,
               "lockstep: LOCKSTEP_TRANSLATE=compare: the translation of kernel %s was wrong\n"
               "  at line %d of the PTX: %s\n"
               "  by block (%u,%u,%u) thread (%u,%u,%u), lane %u of its warp\n"
               "  its destination (place %u of the register file) is %s; the interpreter's is %s\n"
               "  Please report this: LOCKSTEP_TRANSLATE=off runs the program without it.\n",
               b.launch->kernel->demangled.c_str(), b.program->origin(at.pc).ptx_line,
               site_of(*b.program, at.pc).to_string().c_str(), b.ctaid.x, b.ctaid.y, b.ctaid.z,
               thread.x, thread.y, thread.z, lane, at.slot, is.c_str(), expected.c_str());
  std::abort();
}

std::size_t file_bytes(const Warp& w) {
  const WarpControl& c = *w.control;
  return w.block->program->functions[c.frames[c.frame].function].file_bytes;
}

void keep(Warp& w, const translate::Run&) {
  auto& before = per_thread<Before>();
  const std::size_t bytes = file_bytes(w);
  if (before.bytes < bytes) {
    before.file = allocate_aligned(bytes);
    before.bytes = bytes;
  }
  std::memcpy(before.file.get(), w.file[0], bytes);
}

void compare(Warp& w, const translate::Run& run) {
  std::byte* const interpreted = per_thread<Before>().file.get();
  std::byte* const translated = w.file[0];
  // Of a shuffle the code has counted.
  const Counters counted = w.block->worker->counters;
  const std::uint32_t at = w.pc;
  w.file[0] = interpreted;
  for (std::uint32_t pc = run.begin; pc < run.end; ++pc) {
    const Op& op = w.block->program->ops[pc];
    if (translate::lean_of(op) != translate::Lean::kNo) {
      if (const char* const wrong = execute_lean(w, op)) stop_at_load(w, pc, wrong);
      continue;
    }
    LaneMask m = w.active;
    w.pc = pc + 1;
    if (op.guard != kNoSlot) m &= predicate(w, op.guard) ^ (op.guard_negated ? kAllLanes : 0);
    if (m != 0) op.run(w, op, m);
  }
  w.pc = at;
  w.block->worker->counters = counted;
  w.file[0] = translated;
  const std::size_t bytes = file_bytes(w);
  if (std::memcmp(translated, interpreted, bytes) == 0) return;
  std::size_t place = 0;
  while (translated[place] == interpreted[place]) ++place;
  stop(w, run, place, translated, interpreted);
}

}  // namespace

const translate::Translation* Translations::of(const Function& kernel, bool compares, bool loads) {
  const std::lock_guard lock(mutex_);
  auto& made = made_[compares ? 1 : 0][loads ? 1 : 0];
  if (made == nullptr) {
    const translate::Watch watch =
        compares ? translate::Watch{&keep, &compare} : translate::Watch{};
    if (refused_) return nullptr;
    try {
      made = std::make_unique<translate::Translation>(program_, kWarpLayout, watch,
                                                      lean_answers(loads));
    } catch (const std::bad_alloc&) {
      refused_ = true;
      return nullptr;
    }
  }
  made->add(kernel);
  return made.get();
}

translate::Worth Translations::worth_of(const Function& kernel) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = worths_.try_emplace(&kernel);
  if (is_new) at->second = translate::worth_of(program_, kernel);
  return at->second;
}

void Translations::forget() {
  const std::lock_guard lock(mutex_);
  worths_.clear();
  for (auto& both : made_) {
    for (auto& made : both) made.reset();
  }
}

namespace {

// Instructions of warps for each operation of a kernel before it is translated. They take about
// eight times as long as the translation, and one that is translated saves a quarter to a half.
constexpr std::uint64_t kPrice = 1500;

const translate::Translation* translation_of(const Launch& l, const LoadedKernel& loaded) {
  return loaded.translations().of(loaded.function(),
                                  l.config->translate == LaunchConfig::Translate::kCompare,
                                  has_silent_shared_memory(l));
}

std::uint64_t left_of(std::uint64_t price, const LoadedKernel& loaded) {
  const std::uint64_t executed = loaded.executed();
  return price > executed ? price - executed : 0;
}

}  // namespace

void translate_kernel(Launch& l, const LoadedKernel& loaded) {
  using Translate = LaunchConfig::Translate;
  if (l.config->translate == Translate::kOff) return;
  if (l.config->translate != Translate::kOn) {
    l.translation = translation_of(l, loaded);
    return;
  }
  // Most kernels never execute what their own operations cost: nothing else is asked of them.
  const Function& kernel = loaded.function();
  l.translate_after = left_of(kPrice * (kernel.end - kernel.entry), loaded);
  l.translate = [&l, &loaded](std::uint64_t instructions) {
    const translate::Worth worth = loaded.translations().worth_of(loaded.function());
    if (!worth.gains()) return;
    if (const std::uint64_t after = left_of(kPrice * worth.operations, loaded);
        after > instructions) {
      l.translate_after = after;
      return;
    }
    l.translation.store(translation_of(l, loaded), std::memory_order_release);
  };
}

void translate_now(Launch& l, std::uint64_t instructions) {
  // One thread does it while the others interpret.
  if (l.translate_after.exchange(~0ull) != ~0ull) l.translate(instructions);
}

}  // namespace lockstep::engine
