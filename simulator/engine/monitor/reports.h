// Builds and reports findings: adds the place in the program and in the grid to what a handler
// noticed.
#pragma once

#include <string>

#include "simulator/check/library_findings.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {

// A source file's name in the workspace: without the prefix that a build adds so that its objects
// are the same in every folder.
std::string source_file(const Source& source, int file);
check::Site site_of(const Program& program, std::uint32_t pc);
Dim3 thread_of(const Launch& launch, std::uint32_t linear_thread);

// A finding by the lowest of `lanes` (the others are counted) at the operation at `pc`. Fill in the
// rest and pass it to report().
check::Finding finding_at(const Warp& w, std::uint32_t pc, LaneMask lanes, check::Kind kind);

// A finding about the access of the lowest of `lanes`; the others are counted.
check::Finding access_finding(const Warp& w, const Request& r, isa::Space space, LaneMask lanes,
                              check::Kind kind);

// Records the finding. An error stops the warp and its block; information does not.
void report(Warp& w, check::Finding finding);
// Whether the kernel continues after a finding of this kind: because of LaunchConfig::go_on, or
// because the kind is suppressed in it.
bool goes_on_after(const Launch& launch, check::Kind kind);
// As report(), for a finding after which the kernel can continue. Returns false if it continues.
bool report_unless_suppressed(Warp& w, check::Finding finding);
// Whether the kernel continues after this kind, and a finding of it is already reported for the
// operation at `pc`. If so, counts `times` more, because a loop may repeat it very often.
bool already_reported(const Warp& w, check::Kind kind, std::uint32_t pc, std::uint64_t times = 1,
                      ReportedSite::As as = ReportedSite::As::kError);
// Whether this is the first call on this host thread for the place. Further calls are counted.
bool first_time(Warp& w, check::Kind kind, std::uint32_t pc,
                ReportedSite::As as = ReportedSite::As::kError);
// Whether the finding was reported before as known in a library. If so, counts `times` more.
bool known_before(const Warp& w, check::Kind kind, std::uint32_t pc, ReportedSite::As as,
                  std::uint64_t times = 1);
// Turns the finding into information, with an explanation, if check/library_findings.h lists it and
// the launch does not use kStrictLibraries. Returns whether it did.
bool is_known_in_library(const Launch& launch, check::Finding& finding,
                         check::RaceShape shape = check::RaceShape::kOther);
// Adds the repetitions that a host thread has counted to the launch's findings.
void count_again(const Worker& worker, const Program& program, check::UniqueFindings& findings);
void report(Block& b, check::Finding finding);
// Reports for the block at `position` of the schedule, which may be another than `b`. Only that
// block stops.
void report_at(Block& b, std::uint64_t position, check::Finding finding);

// Records the lanes of a store to global memory that store only uninitialised values.
void note_unwritten_store(Warp& w, const Request& r);

// "4 bytes past the end of 'y' (4096 bytes, cudaMalloc #3)" for a global address that is out of
// bounds.
std::string describe(const memory::DeviceMemory& memory, std::uint64_t address, std::uint32_t size);
std::string describe_range(const std::vector<Range>& ranges, std::uint32_t address,
                           std::uint32_t size);
// The place of an address: "36 bytes into 's' (element 9, of 4 bytes)" for shared memory, with
// elements of `width` bytes, and "36 bytes into 'y' (4096 bytes, cudaMalloc #3)" for global memory.
// Empty if nothing is known there.
std::string describe_inside(Warp& w, isa::Space space, std::uint64_t address, std::uint32_t width);

}  // namespace lockstep::engine
