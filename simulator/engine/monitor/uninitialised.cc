#include "simulator/engine/monitor/uninitialised.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "simulator/engine/monitor/bit_flow.h"
#include "simulator/engine/monitor/proved.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using Role = OperandUse::Role;

// Lanes of a store that reach local memory or shared memory of their own block; decided by their
// addresses if the space is generic. A matrix lies in one space as a whole: stmatrix stores to
// shared memory.
LaneMask lanes_into_scratch(const Warp& w, const Op& op) {
  const auto space = static_cast<isa::Space>(op.space);
  if (space == isa::Space::kShared || space == isa::Space::kLocal) return kAllLanes;
  if (space != isa::Space::kGeneric) return 0;
  if (op.action == Action::kStoreMatrix) return kAllLanes;
  std::uint64_t address[kWarpSize];
  if (op.action == Action::kStoreFragment) {
    matrix_addresses(w, op, address);
  } else {
    load_addresses(w, op, address);
  }
  const Launch& launch = *w.block->launch;
  LaneMask lanes = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const bool here = address[i] - launch.shared_window < (1ull << kRankShift) ||
                      address[i] - launch.local_window < (1ull << 32);
    lanes |= LaneMask{here} << i;
  }
  return lanes;
}

// Whether the value comes from a register that its function reads before it writes it, not from a
// load. Such a register is marked at the entry of the function.
bool unassigned(const Program& program, const Validity::Word& word) {
  return word.kind != check::Kind::kAsyncOrder && word.pc == program.function_at(word.pc).entry &&
         program.transfers[word.pc] != ValidityTransfer::kLoad;
}

// The load that read the lane's uninitialised value, with its address; nullptr: unknown.
const Validity::Load* load_of(const Warp& w, const Validity::Word& word, int lane) {
  if (word.kind != check::Kind::kUninitialised) return nullptr;
  for (std::int32_t i = w.control->frame; i >= 0; i = w.control->frames[i].caller) {
    const Frame& frame = w.control->frames[i];
    if (!frame.validity) continue;
    for (const Validity::Load& load : frame.validity->loads) {
      if (load.pc == word.pc && (load.lanes >> lane & 1) != 0) return &load;
    }
  }
  return nullptr;
}

// The generic address from which the lane's value was read; 0: unknown.
std::uint64_t address_read(const Warp& w, const Validity::Word& word, int lane) {
  const Validity::Load* const load = load_of(w, word, lane);
  return load == nullptr ? 0 : load->address[static_cast<std::size_t>(lane)];
}

// The operation that read the value first, before a store copied it to where `word` says that it
// was read.
std::uint32_t first_read(const Warp& w, const Validity::Word& word, int lane) {
  const Validity::Load* const load = load_of(w, word, lane);
  return load == nullptr ? Validity::kNoLoad : load->first_pc[static_cast<std::size_t>(lane)];
}

void keep_address(Validity& validity, std::uint32_t pc, int lane, std::uint64_t address,
                  std::uint32_t first_pc = Validity::kNoLoad) {
  auto& loads = validity.loads;
  auto it = std::find_if(loads.begin(), loads.end(), [&](const auto& l) { return l.pc == pc; });
  if (it == loads.end()) it = loads.insert(loads.end(), Validity::Load{pc, 0, {}, {}});
  it->lanes = (it->lanes & ~(1u << lane)) | LaneMask{address != 0 || first_pc != Validity::kNoLoad}
                                                << lane;
  it->address[static_cast<std::size_t>(lane)] = address;
  it->first_pc[static_cast<std::size_t>(lane)] = first_pc;
}

// ", 36 bytes into 's' (element 9, of 4 bytes)": the memory that the lane's value was read from.
// Empty if unknown.
std::string place_read(Warp& w, const Validity::Word& word, int lane) {
  const std::uint64_t address = address_read(w, word, lane);
  const std::string inside = address == 0 ? std::string()
                                          : describe_inside(w, isa::Space::kGeneric, address,
                                                            w.block->program->ops[word.pc].width);
  const std::uint32_t first = first_read(w, word, lane);
  return (inside.empty() ? inside : ", " + inside) +
         (first == Validity::kNoLoad ? std::string()
                                     : "; the value stored there was read, also unwritten, at " +
                                           site_of(*w.block->program, first).to_string());
}

// Returns false if the launch ends. If it continues, the value counts as written from here on;
// otherwise everything computed from it would be reported again.
bool report_use(Warp& w, std::uint32_t pc, LaneMask lanes, Validity::Word& word, const char* use) {
  // The values of one load are one mistake, however often they are used. An unassigned register can
  // be identified by its use only.
  const bool loaded = !unassigned(*w.block->program, word),
             has_origin = loaded || word.kind == check::Kind::kInactiveLane;
  const std::uint32_t place = has_origin ? origin_pc(word) : pc;
  const auto as = has_origin ? ReportedSite::As::kOrigin : ReportedSite::As::kError;
  const Validity::Word met = word;
  const auto known_as = has_origin ? ReportedSite::As::kKnownOrigin : ReportedSite::As::kKnown;
  if (goes_on_after(*w.block->launch, word.kind)) word.invalid &= ~lanes, word.derived &= ~lanes;
  if (known_before(w, met.kind, place, known_as, std::popcount(lanes))) {
    word.invalid &= ~lanes, word.derived &= ~lanes;
    return true;
  }
  if (already_reported(w, met.kind, place, std::popcount(lanes), as)) return true;
  check::Finding f = finding_at(w, pc, lanes, met.kind);
  const check::Site from = site_of(*w.block->program, origin_pc(met));
  if (has_origin) f.origin = from;
  if (met.kind == check::Kind::kAsyncOrder) {
    const bool loads = w.block->program->ops[origin_pc(met)].action == Action::kTensorLoad;
    f.where =
        std::string(use) + (loads ? " is loaded from tensor memory, and nobody has waited for it"
                                  : " is the result of a multiplication that nobody has "
                                    "waited for");
    f.detail = "issued at " + from.to_string() +
               (loads ? "; tcgen05.wait::ld must come before its first use"
                      : "; wgmma.commit_group and wgmma.wait_group must come before its first use");
  } else if (met.kind == check::Kind::kInactiveLane) {
    f.where = std::string(use) + " is a value shuffled from a lane that did not take part";
    f.detail = "shuffled at " + from.to_string();
  } else {
    f.where = std::string(use) + " was never written";
    f.detail = loaded ? "read at " + from.to_string() + place_read(w, met, std::countr_zero(lanes))
                      : "the register is read before anything was assigned to it on this path";
  }
  if (is_known_in_library(*w.block->launch, f)) {
    first_time(w, met.kind, place, known_as);
    word.invalid &= ~lanes, word.derived &= ~lanes;
    report(w, std::move(f));
    return true;
  }
  first_time(w, met.kind, place, as);
  return !report_unless_suppressed(w, std::move(f));
}

// For a selection: the lanes that select its first source.
LaneMask takes_first(const Warp& w, const Op& op) {
  const auto lanes_with = [&](auto holds) {
    LaneMask m = 0;
    for (int l = 0; l < kWarpSize; ++l) m |= static_cast<LaneMask>(holds(l)) << l;
    return m;
  };
  if (op.as<ComputeFields>().detail<Selects>() == Selects::kPredicate)
    return predicate(w, op.src[2]);
  if (op.as<ComputeFields>().detail<Selects>() == Selects::kSign) {
    const auto* sign = source<std::int32_t>(w, op.src[2]);
    return lanes_with([&](int l) { return sign[l] >= 0; });
  }
  const auto* sign = source<float>(w, op.src[2]);
  const float least = op.as<ComputeFields>().detail<Selects>() == Selects::kFlushedSign
                          ? std::numeric_limits<float>::min()
                          : 0;
  return lanes_with([&](int l) { return sign[l] >= 0 || (least != 0 && sign[l] > -least); });
}

// Lanes in which a predicate, the `n`-th source, is valid and determines the result alone.
LaneMask decides(const Warp& w, const Frame& frame, const Op& op, int n) {
  const LaneMask value =
      predicate(w, op.src[n]) ^ (op.as<ComputeFields>().negates(n) ? kAllLanes : 0);
  return (op.as<ComputeFields>().detail<Decides>() == Decides::kTrue ? value : ~value) &
         ~invalid_lanes(w, frame, op.src[n], kAllLanes);
}

// For a comparison that is combined with a predicate: the lanes in which the comparison is valid
// and determines the result alone. Runs the operation with a neutral predicate, then restores what
// it has changed.
LaneMask comparison_decides(Warp& w, const Frame& frame, const Op& op) {
  if (op.dst2 != kNoSlot || op.dst == kNoSlot || is_constant(op.src[2]))
    return 0;  // of a pair, the second holds the opposite
  const bool deciding = op.as<ComputeFields>().detail<Decides>() == Decides::kTrue,
             negated = op.as<ComputeFields>().negates(2);
  const LaneMask joined = predicate(w, op.src[2]), result = predicate(w, op.dst);
  set_predicate(w, op.src[2], deciding == negated ? kAllLanes : 0, kAllLanes);
  op.run(w, op, kAllLanes);
  const LaneMask value = predicate(w, op.dst);
  set_predicate(w, op.dst, result, kAllLanes);
  set_predicate(w, op.src[2], joined, kAllLanes);
  const LaneMask unknown =
      invalid_lanes(w, frame, op.src[0], kAllLanes) | invalid_lanes(w, frame, op.src[1], kAllLanes);
  return (deciding ? value : ~value) & ~unknown;
}

// The lanes in which the value of an operand matters.
LaneMask lanes_that_read(Warp& w, const Frame& frame, const Op& op, ValidityTransfer flow,
                         const OperandUse& use) {
  switch (flow) {
    case ValidityTransfer::kSelect: {
      if (use.role != Role::kValue) return kAllLanes;
      const LaneMask first = takes_first(w, op);
      return (use.slot == op.src[0] ? first : 0) | (use.slot == op.src[1] ? ~first : 0);
    }
    case ValidityTransfer::kLogic:
      return op.src[0] == op.src[1] ? kAllLanes
                                    : ~decides(w, frame, op, use.slot == op.src[0] ? 1 : 0);
    case ValidityTransfer::kCompareLogic:
      return ~(use.slot == op.src[2] ? comparison_decides(w, frame, op) : decides(w, frame, op, 2));
    default: return kAllLanes;
  }
}

}  // namespace

std::string origin_of(Warp& w, const Validity::Word& word, int lane) {
  const Program& program = *w.block->program;
  const std::string from = site_of(program, origin_pc(word)).to_string();
  if (word.kind == check::Kind::kInactiveLane)
    return "The value was shuffled from a lane that did not take part, at " + from;
  if (unassigned(program, word))
    return "The value is that of a register which is read before anything was assigned to it on "
           "this path";
  return "The value was never written; it was read at " + from + place_read(w, word, lane);
}

void keep_addresses(Warp& w, const Request& r, LaneMask lanes) {
  Frame& frame = w.control->frames[w.control->frame];
  if (!frame.validity) return;
  const Block& b = *w.block;
  const auto shared = reinterpret_cast<std::uintptr_t>(b.shared.bytes.get());
  each(lanes, [&](int l) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(r.host[l]) - shared;
    const std::uint64_t address = offset < b.shared.size ? b.launch->shared_window + offset
                                  : b.worker->memory->in_window(r.address[l]) ? r.address[l]
                                                                              : 0;
    keep_address(*frame.validity, r.pc, l, address);
  });
}

void begin_tracking(Warp& w) {
  if (w.control->tracking) return;
  w.control->tracking = true;
  // The tracking loop takes over, unless a handler has set another event (reschedule, abort).
  if (w.event == Event::kNone) w.event = Event::kTrack;
}

Validity::Word* validity_word(Frame& frame, Slot slot) {
  if (!frame.validity || is_constant(slot) || slot / 4 >= frame.validity->words.size())
    return nullptr;
  return &frame.validity->words[slot / 4];
}

LaneMask invalid_lanes(const Warp&, const Frame& frame, Slot slot, LaneMask mask) {
  if (!frame.validity || is_constant(slot) || slot == kNoSlot ||
      slot / 4 >= frame.validity->words.size())
    return 0;
  return frame.validity->words[slot / 4].invalid & mask;
}

void mark_register(Warp& w, Slot slot, LaneMask invalid, LaneMask written, std::uint32_t pc,
                   check::Kind kind, const std::uint8_t* bytes, const std::uint64_t* bits) {
  Frame& frame = w.control->frames[w.control->frame];
  if (!frame.validity) {
    if (invalid == 0) return;
    frame.validity = std::make_unique<Validity>();
  }
  auto& words = frame.validity->words;
  const std::size_t file = w.block->program->functions[frame.function].file_bytes;
  if (words.size() < file / 4) words.resize(file / 4);
  if (slot / 4 >= words.size()) return;
  Validity::Word& word = words[slot / 4];
  word.invalid = (word.invalid & ~written) | invalid;
  word.derived &= ~(written | invalid);
  word.masked &= ~(written | invalid);
  if (invalid != 0) {
    if (kind == check::Kind::kUninitialised) compare_unwritten_with_proof(w, pc, invalid);
    frame.validity->mark(word);
    word.pc = pc;
    word.kind = kind;
    bits != nullptr ? frame.validity->set_bits(word, invalid, bits)
                    : frame.validity->set_bytes(word, invalid, bytes);
  }
}

void forget_order_marks(Warp& w, const std::vector<std::uint32_t>& marks) {
  for (Frame& frame : w.control->frames) {
    if (!frame.validity) continue;
    for (const std::uint32_t i : frame.validity->marked) {
      Validity::Word& word = frame.validity->words[i];
      if (word.kind == check::Kind::kAsyncOrder &&
          std::find(marks.begin(), marks.end(), word.pc) != marks.end())
        word.invalid = word.derived = 0;
    }
  }
}

void carry_mark(Warp& w, Slot slot, const Frame& from, const Validity::Word& word, LaneMask lanes) {
  std::uint64_t bits[kWarpSize] = {};
  const Validity::Word met = word;  // a copy: marking may change or move `word`
  each(met.invalid & lanes, [&](int l) { bits[l] = from.validity->unwritten_bits(word, l); });
  mark_register(w, slot, met.invalid & lanes, lanes, met.pc, met.kind, nullptr, bits);
  Validity::Word* const to =
      met.invalid & lanes ? validity_word(w.control->frames[w.control->frame], slot) : nullptr;
  if (to == nullptr) return;
  to->derived |= met.derived & lanes;
  to->masked |= met.masked & lanes;
}

std::uint64_t Validity::unwritten_bits(const Word& word, int lane) const {
  if (!word.partly) return bits_of_bytes(word.bytes[lane]);
  return bits.at(static_cast<std::uint32_t>(&word - words.data()))[static_cast<std::size_t>(lane)];
}

void Validity::set_bytes(Word& word, LaneMask lanes, const std::uint8_t* of_lanes) {
  each(lanes, [&](int l) { word.bytes[l] = of_lanes != nullptr ? of_lanes[l] : 0xff; });
  if (!word.partly) return;
  Bits& partial = bits[static_cast<std::uint32_t>(&word - words.data())];
  each(lanes, [&](int l) { partial[static_cast<std::size_t>(l)] = bits_of_bytes(word.bytes[l]); });
}

void Validity::set_bits(Word& word, LaneMask lanes, const std::uint64_t* of_lanes) {
  bool partly = false;
  const LaneMask others = word.invalid & ~lanes;
  const auto index = static_cast<std::uint32_t>(&word - words.data());
  if (word.partly) {
    const Bits& known = bits[index];
    each(others, [&](int l) {
      partly |= known[static_cast<std::size_t>(l)] != bits_of_bytes(word.bytes[l]);
    });
  }
  each(lanes, [&](int l) {
    word.bytes[l] = bytes_of_bits(of_lanes[l]);
    partly |= of_lanes[l] != bits_of_bytes(word.bytes[l]);
  });
  if (!partly) {
    if (word.partly) bits.erase(index);
    word.partly = false;
    return;
  }
  Bits& partial = bits[index];
  if (!word.partly)
    each(others,
         [&](int l) { partial[static_cast<std::size_t>(l)] = bits_of_bytes(word.bytes[l]); });
  word.partly = true;
  each(lanes, [&](int l) { partial[static_cast<std::size_t>(l)] = of_lanes[l]; });
}

void keep_origins(Warp& w, const Request& r) {
  auto& words = w.block->unwritten_from;
  // Copies keep their origin, so that a later finding can name the first load.
  const LaneMask copies =
      r.invalid_word->kind == check::Kind::kUninitialised &&
              w.block->program->transfers[r.invalid_word->pc] == ValidityTransfer::kLoad
          ? r.invalid & ~r.derived & lanes_into_scratch(w, *r.op)
          : 0;
  if (r.derived == 0 && copies == 0 && words.empty()) return;
  each(r.invalid, [&](int i) {
    const auto first = reinterpret_cast<std::uintptr_t>(r.host[i]);
    for (std::uintptr_t word = first / 4; word <= (first + r.size - 1) / 4; ++word) {
      const std::uint32_t pc = r.invalid_word->pc, first = first_read(w, *r.invalid_word, i);
      if (r.derived >> i & 1) {
        words[word] = {pc, address_read(w, *r.invalid_word, i), first, true};
      } else if ((copies >> i & 1) != 0) {
        words[word] = {pc, 0, first == Validity::kNoLoad ? pc : first, false};
      } else {
        words.erase(word);
      }
    }
  });
}

void forget_origins(Block& b, const std::byte* first, std::size_t bytes) {
  if (b.unwritten_from.empty() || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  for (std::uintptr_t word = begin / 4; word <= (begin + bytes - 1) / 4; ++word)
    b.unwritten_from.erase(word);
}

void take_origins(Warp& w, Slot slot, const Request& r, LaneMask lanes, std::uint32_t offset) {
  const auto& words = w.block->unwritten_from;
  if (words.empty()) return;
  Validity::Word* const mark = validity_word(w.control->frames[w.control->frame], slot);
  if (mark == nullptr) return;
  each(mark->invalid & lanes, [&](int i) {
    const auto known = words.find(reinterpret_cast<std::uintptr_t>(r.host[i] + offset) / 4);
    if (known == words.end()) return;
    Validity& validity = *w.control->frames[w.control->frame].validity;
    const Block::UnwrittenFrom& from = known->second;
    if (from.computed) {
      mark->derived |= 1u << i;
      mark->pc = from.pc;
      keep_address(validity, from.pc, i, from.address, from.first_pc);
    } else {
      keep_address(validity, mark->pc, i, address_read(w, *mark, i), from.first_pc);
    }
  });
}

bool check_copied_out(Warp& w, std::uint32_t pc, int lane, std::uint32_t offset,
                      std::uint16_t unwritten) {
  const Block& b = *w.block;
  if (b.unwritten_from.empty()) return true;
  for (unsigned left = unwritten; left != 0; left &= left - 1) {
    const auto at = offset + static_cast<std::uint32_t>(std::countr_zero(left));
    const auto known =
        b.unwritten_from.find(reinterpret_cast<std::uintptr_t>(b.shared.bytes.get() + at) / 4);
    if (known == b.unwritten_from.end() || !known->second.computed) continue;
    Validity::Word word;
    word.invalid = word.derived = 1u << lane;
    word.pc = known->second.pc;
    return report_use(w, pc, word.invalid, word, "a source of the copied value");
  }
  return true;
}

bool follow(Warp& w, std::uint32_t pc, LaneMask mask, LaneMask active) {
  const DoingFor follows(*w.block->worker, Doing::kInitialisation);
  const Program& program = *w.block->program;
  Frame& frame = w.control->frames[w.control->frame];
  if (!frame.validity) return true;
  const Op& op = program.ops[pc];
  auto& words = frame.validity->words;
  const auto word_of = [&](Slot s) -> Validity::Word* {
    return is_constant(s) || s == kNoSlot || s / 4 >= words.size() ? nullptr : &words[s / 4];
  };
  if (op.guard != kNoSlot) {
    if (Validity::Word* g = word_of(op.guard); g && (g->invalid & active)) {
      if (!report_use(w, pc, g->invalid & active, *g, "the condition")) return false;
    }
  }
  if (mask == 0) return true;
  const OperandUse* const begin = program.uses.data() + program.use_begin[pc];
  const OperandUse* const end = program.uses.data() + program.use_begin[pc + 1];
  // Most operations meet no mark, even in a warp that has some.
  const bool meets_mark = std::any_of(begin, end, [&](const OperandUse& u) {
    const Validity::Word* const word = word_of(u.slot);
    return word != nullptr && (word->invalid & mask) != 0;
  });
  if (!meets_mark) return true;
  const ValidityTransfer flow = program.transfers[pc];
  Validity::Word result;
  LaneMask merged = 0;  // lanes that combine a known value with an unwritten one
  std::uint64_t bits[kWarpSize];
  LaneMask whole = mask;  // lanes whose sources are invalid in all bytes
  int sources = 0, results = 0;
  bool any = false;
  for (const OperandUse* u = begin; u != end; ++u) {
    if (u->role == Role::kWrite) continue;
    ++sources;
    Validity::Word* v = word_of(u->slot);
    const LaneMask bad = v == nullptr || (v->invalid & mask) == 0
                             ? 0
                             : v->invalid & mask & lanes_that_read(w, frame, op, flow, *u);
    if (bad == 0) {
      whole = 0;
      continue;
    }
    // A pending result may be copied, as nvcc does. Any other use is too early.
    const bool unfinished = v->kind == check::Kind::kAsyncOrder &&
                            flow != ValidityTransfer::kCopy && flow != ValidityTransfer::kExchange;
    const char* const use = u->role == Role::kAddress            ? "the address"
                            : u->role == Role::kFactor           ? "metadata or a scale factor"
                            : unfinished                         ? "an operand"
                            : flow == ValidityTransfer::kControl ? "what decides here"
                            : flow == ValidityTransfer::kAtomic  ? "the operand"
                                                                 : nullptr;
    if (use != nullptr) {
      if (!report_use(w, pc, bad, *v, use)) return false;
      continue;
    }
    if (flow == ValidityTransfer::kStore) {
      LaneMask computed = bad & v->derived;
      if (computed != 0 && v->kind == check::Kind::kUninitialised)
        computed &= ~lanes_into_scratch(w, op);
      if (computed && !report_use(w, pc, computed, *v, "a source of the stored value"))
        return false;
      continue;  // a copy: the handler marks the memory
    }
    if (!any) std::memset(bits, 0, sizeof bits);
    any = true;
    Validity::Word* const beside = flow == ValidityTransfer::kBitwise
                                       ? word_of(op.src[u->slot == op.src[0] ? 1 : 0])
                                       : nullptr;
    result.pc = v->pc;
    result.kind = v->kind;
    whole &= bad;
    for (int l = 0; l < kWarpSize; ++l) {
      if (!(bad >> l & 1)) continue;
      const std::uint64_t own = frame.validity->unwritten_bits(*v, l);
      const std::uint64_t other = beside != nullptr && (beside->invalid >> l & 1) != 0
                                      ? frame.validity->unwritten_bits(*beside, l)
                                      : 0;
      const PassedBits passed = pass_bits(w, op, flow, *u, l, own, other);
      if (passed.bits != 0) {
        result.invalid |= 1u << l;
        result.derived |= (passed.computed || (v->derived >> l & 1) != 0 ? 1u : 0u) << l;
        result.masked |= (passed.masked || (v->masked >> l & 1) != 0 ? 1u : 0u) << l;
        merged |= (passed.merged ? 1u : 0u) << l;
        bits[l] |= passed.bits;
      }
      if (own != ~std::uint64_t{0}) whole &= ~(1u << l);
    }
  }
  if (flow == ValidityTransfer::kStore || flow == ValidityTransfer::kExchange) return true;
  for (const OperandUse* u = begin; u != end; ++u) results += u->role == Role::kWrite;
  if (flow == ValidityTransfer::kCopy && (sources > 1 || results > 1)) {
    // A mov that packs or unpacks. The movement of single bytes is not tracked: a partly written
    // value counts as written. This may miss a mistake but reports no false one.
    result.invalid &= whole | result.derived;
    std::memset(bits, 0xff, sizeof bits);
  }
  result.masked &= ~merged;
  for (const OperandUse* u = begin; u != end; ++u) {
    if (u->role != Role::kWrite) continue;
    Validity::Word* d = word_of(u->slot);
    if (d == nullptr) continue;
    if (result.invalid != 0) frame.validity->mark(*d);
    d->invalid = (d->invalid & ~mask) | result.invalid;
    d->derived = (d->derived & ~mask) | result.derived;
    d->masked = (d->masked & ~mask) | result.masked;
    if (any) {
      d->pc = result.pc;
      d->kind = result.kind;
      frame.validity->set_bits(*d, result.invalid, bits);
    }
  }
  return true;
}

}  // namespace lockstep::engine
