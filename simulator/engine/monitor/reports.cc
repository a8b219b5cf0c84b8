#include "simulator/engine/monitor/reports.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
using memory::bytes;

std::string source_file(const Source& source, int file) {
  if (file < 0 || file >= static_cast<int>(source.files.size())) return "?";
  std::string_view path = source.files[file];
  for (const std::string_view prefix : {"/proc/self/cwd/", "./"}) {
    if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
  }
  return std::string(path);
}

check::Site site_of(const Program& program, std::uint32_t pc) {
  const Origin& origin = program.origin(pc);
  check::Site site;
  site.ptx_line = origin.ptx_line;
  site.instruction = origin.text;
  if (origin.source.line != 0) {
    const Source& source = program.sources[origin.module];
    site.file = source_file(source, origin.source.file);
    site.line = origin.source.line;
    if (origin.source.inlined_at >= 0 &&
        origin.source.inlined_at < static_cast<int>(source.inline_sites.size())) {
      // The outermost caller is in the reader's own code.
      const ptx::InlineSite* s = &source.inline_sites[origin.source.inlined_at];
      while (s->caller.inlined_at >= 0 &&
             s->caller.inlined_at < static_cast<int>(source.inline_sites.size())) {
        site.through.push_back(source_file(source, s->caller.file));
        s = &source.inline_sites[s->caller.inlined_at];
      }
      site.inlined_into =
          source_file(source, s->caller.file) + ":" + std::to_string(s->caller.line);
    }
  }
  return site;
}

Dim3 thread_of(const Launch& launch, std::uint32_t t) {
  const Dim3& b = launch.config->block;
  return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}

namespace {

const char* space_name(isa::Space s) {
  switch (s) {
    case isa::Space::kShared:
    case isa::Space::kSharedCluster: return "shared";
    case isa::Space::kLocal: return "local";
    case isa::Space::kConst: return "constant";
    case isa::Space::kParam: return "parameter";
    default: return "global";
  }
}

}  // namespace

check::Finding access_finding(const Warp& w, const Request& r, isa::Space space, LaneMask lanes,
                              check::Kind kind) {
  check::Finding f = finding_at(w, r.pc, r.issuer < 0 ? lanes : 1u << r.issuer, kind);
  f.access.address = r.address[std::countr_zero(lanes)];
  f.access.size = r.size;
  f.access.is_write = r.writes;
  f.access.is_atomic = r.reads && r.writes;
  f.space = space_name(space);
  return f;
}

check::Finding finding_at(const Warp& w, std::uint32_t pc, LaneMask lanes, check::Kind kind) {
  const Block& b = *w.block;
  check::Finding f;
  f.kind = kind;
  f.kernel = b.launch->kernel->demangled;
  f.access.site = site_of(*b.program, pc);
  f.access.block = b.ctaid;
  f.access.thread =
      thread_of(*b.launch, w.index * kWarpSize + (lanes ? std::countr_zero(lanes) : 0));
  f.occurrences = std::max(1, std::popcount(lanes));
  return f;
}

void report_at(Block& b, std::uint64_t position, check::Finding finding) {
  const bool error = finding.severity == check::Severity::kError && !finding.survived;
  Launch& launch = *b.launch;
  // The blocks of a cooperative grid wait for each other: a finding that ends one ends all.
  if (launch.config->cooperative) position = 0;
  {
    std::lock_guard lock(launch.mutex);
    launch.findings.add(std::move(finding), position);
  }
  if (!error) return;
  if (launch.config->cooperative) launch.abandoned = true;
  if (position == b.position || launch.config->cooperative) b.aborted = true;
  std::uint64_t stop = launch.stop.load();
  while (position < stop && !launch.stop.compare_exchange_weak(stop, position)) {
  }
}

void report(Block& b, check::Finding finding) { report_at(b, b.position, std::move(finding)); }

void report(Warp& w, check::Finding finding) {
  const bool error = finding.severity == check::Severity::kError;
  report(*w.block, std::move(finding));
  if (error) w.event = Event::kAbort;
}

namespace {

ReportedSite* find_reported(const Warp& w, check::Kind kind, std::uint32_t pc,
                            ReportedSite::As as) {
  std::vector<ReportedSite>& reported = w.block->worker->reported;
  const auto it = std::find_if(reported.begin(), reported.end(), [&](const ReportedSite& t) {
    return t.pc == pc && t.kind == kind && t.as == as;
  });
  return it == reported.end() ? nullptr : &*it;
}

}  // namespace

bool goes_on_after(const Launch& launch, check::Kind kind) {
  return launch.config->go_on || (launch.config->suppressed >> static_cast<int>(kind) & 1) != 0;
}

bool already_reported(const Warp& w, check::Kind kind, std::uint32_t pc, std::uint64_t times,
                      ReportedSite::As as) {
  if (!goes_on_after(*w.block->launch, kind)) return false;
  ReportedSite* reported = find_reported(w, kind, pc, as);
  if (reported == nullptr) return false;
  reported->again += times;
  return true;
}

bool first_time(Warp& w, check::Kind kind, std::uint32_t pc, ReportedSite::As as) {
  if (ReportedSite* reported = find_reported(w, kind, pc, as)) {
    ++reported->again;
    return false;
  }
  w.block->worker->reported.push_back({pc, kind, as});
  return true;
}

bool known_before(const Warp& w, check::Kind kind, std::uint32_t pc, ReportedSite::As as,
                  std::uint64_t times) {
  ReportedSite* reported = find_reported(w, kind, pc, as);
  if (reported != nullptr) reported->again += times;
  return reported != nullptr;
}

bool is_known_in_library(const Launch& launch, check::Finding& finding, check::RaceShape shape) {
  const char* const why =
      launch.strict_libraries ? nullptr : check::known_in_library(finding, shape);
  if (why == nullptr) return false;
  finding.severity = check::Severity::kInformation;
  finding.survived = false;
  finding.detail += (finding.detail.empty() ? "" : "\n  ") + std::string(why) +
                    " It is an error with --check=all,strict-libraries.";
  return true;
}

void count_again(const Worker& worker, const Program& program, check::UniqueFindings& findings) {
  for (const ReportedSite& reported : worker.reported) {
    if (reported.again == 0) continue;
    using As = ReportedSite::As;
    const bool informs = reported.as == As::kInformation || reported.as == As::kKnown ||
                         reported.as == As::kKnownOrigin;
    findings.count_at(
        reported.kind, informs ? check::Severity::kInformation : check::Severity::kError,
        site_of(program, reported.pc),
        reported.as == As::kOrigin || reported.as == As::kKnownOrigin, reported.again);
  }
}

bool report_unless_suppressed(Warp& w, check::Finding finding) {
  finding.survived = goes_on_after(*w.block->launch, finding.kind);
  const bool ends = !finding.survived;
  if (ends) {
    report(w, std::move(finding));
  } else {
    report(*w.block, std::move(finding));
  }
  return ends;
}

void note_unwritten_store(Warp& w, const Request& r) {
  Block& b = *w.block;
  const memory::DeviceMemory& memory = *b.worker->memory;
  // Compilers copy padding as single bytes, so uninitialised values that a program stores as bytes
  // are information only.
  if (r.op->width == 1) return;
  const std::uint32_t all = static_cast<std::uint32_t>((1ull << r.size) - 1);
  LaneMask lanes = 0;
  for (LaneMask todo = r.invalid; todo != 0; todo &= todo - 1) {
    const int i = std::countr_zero(todo);
    if (!memory.in_window(r.address[i])) continue;
    // A word with bit fields may miss some bits in every byte.
    const bool whole =
        r.missing[i] == all && (r.bits == nullptr || (r.bits->lanes >> i & 1) == 0 ||
                                std::all_of(r.bits->of[i], r.bits->of[i] + r.size,
                                            [](std::uint8_t bits) { return bits == 0xff; }));
    if (whole || (r.masked >> i & 1) != 0) lanes |= 1u << i;
  }
  if (lanes == 0) return;
  const std::uint64_t now = r.address[std::countr_zero(lanes)];
  std::lock_guard lock(b.launch->mutex);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int i = std::countr_zero(lanes);
    const std::uint64_t address = r.address[i];
    auto& stores = b.launch->unwritten_stores;
    if (!stores.empty() && address != now && stores.back().begin + stores.back().bytes == address) {
      stores.back().bytes += r.size;
      continue;
    }
    std::uint32_t& known = b.launch->unwritten_sites[r.pc];
    if (known == Outcome::kMaxUnwrittenStores) return;
    ++known;
    check::Finding f = finding_at(w, r.pc, 1u << i, r.invalid_word->kind);
    f.access.address = address;
    f.access.size = r.size;
    f.access.is_write = true;
    f.space = "global";
    f.detail = origin_of(w, *r.invalid_word, i);
    stores.push_back({address, r.size, std::move(f)});
  }
}

std::string describe(const memory::DeviceMemory& memory, std::uint64_t address,
                     std::uint32_t size) {
  if (!memory.in_window(address) && address >= 4096) {
    return "an address outside device memory: of host memory, a kernel reaches only what "
           "cudaMallocManaged or cudaMallocHost gave or cudaHostRegister names";
  }
  if (address < 4096)
    return "a null pointer" + (address ? " plus " + bytes(address) : std::string());
  if (const memory::Allocation* a = memory.find(address)) {
    if (a->freed)
      return bytes(address - a->base) + " into " + describe(*a) + ", which has been freed";
    if (a->absent)
      return bytes(address - a->base) + " into " + describe(*a) +
             ", memory of a graph that is not allocated now: the access comes before its "
             "allocation "
             "node or behind its free";
    if (address < a->begin)
      return bytes(a->begin - address) + " before the start of " + describe(*a);
    if (address >= a->end) {
      const std::uint64_t past = address - a->end;
      return (past ? bytes(past) + " past" : std::string("just past")) + " the end of " +
             describe(*a);
    }
    return "begins inside " + describe(*a) + " but ends " + bytes(address + size - a->end) +
           " past its end";
  }
  const auto near = memory.neighbours(address);
  const std::uint64_t past = near.below ? address - near.below->end : ~0ull;
  const std::uint64_t before = near.above ? near.above->begin - address : ~0ull;
  // No array is overrun this far: more likely the value is not an address at all.
  constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
  if (std::min(past, before) > kFar) return "no allocation is anywhere near";
  if (near.below && past <= before) {
    return (past ? bytes(past) + " past" : std::string("just past")) + " the end of " +
           describe(*near.below) + (near.below->freed ? ", which has been freed" : "");
  }
  if (near.above)
    return bytes(before) + " before the start of " + describe(*near.above) +
           (near.above->freed ? ", which has been freed" : "");
  return "no allocation is anywhere near";
}

std::string describe_range(const std::vector<Range>& ranges, std::uint32_t address,
                           std::uint32_t size) {
  const Range *below = nullptr, *above = nullptr;
  for (const Range& r : ranges) {
    if (r.begin <= address) {
      if (!below || r.begin > below->begin) below = &r;
    } else if (!above || r.begin < above->begin) {
      above = &r;
    }
  }
  const auto text = [](const Range& r) {
    return "'" + r.name + "' (" + bytes(r.end - r.begin) + ")";
  };
  if (below && address < below->end)
    return "begins inside " + text(*below) + " but ends " + bytes(address + size - below->end) +
           " past its end";
  const std::uint32_t past = below ? address - below->end : ~0u;
  if (below && (!above || past <= above->begin - address)) {
    return (past ? bytes(past) + " past" : std::string("just past")) + " the end of " +
           text(*below);
  }
  if (above) return bytes(above->begin - address) + " before the start of " + text(*above);
  return "the kernel has no variable there";
}

std::string describe_inside(Warp& w, isa::Space space, std::uint64_t address, std::uint32_t width) {
  const bool shared = space == isa::Space::kShared || space == isa::Space::kSharedCluster;
  SharedPlace place;
  if ((shared || space == isa::Space::kGeneric) && shared_place(w, space, address, place)) {
    const Range* const range =
        shared_range(*w.block->launch, place.offset, std::uint64_t{place.offset} + 1);
    if (range == nullptr) return {};
    const std::uint32_t offset = place.offset - range->begin;
    std::string text = bytes(offset) + " into '" + range->name + "'";
    if (width > 0 && offset % width == 0)
      text += " (element " + std::to_string(offset / width) + ", of " + bytes(width) + ")";
    return text;
  }
  const memory::DeviceMemory& memory = *w.block->worker->memory;
  if (shared || !memory.in_window(address)) return {};
  const memory::Allocation* const a = memory.find(address);
  return a == nullptr ? std::string() : bytes(address - a->begin) + " into " + describe(*a);
}

}  // namespace lockstep::engine
