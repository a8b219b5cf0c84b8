// Turns what a handler noticed into a finding, with its place in the program and in the grid.
#pragma once

#include <string>

#include "simulator/check/library_findings.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {

// A file of the source as it is named in the workspace: without what a build adds in front so that
// its objects are the same in every folder.
std::string source_file(const Source& source, int file);
check::Site site_of(const Program& program, std::uint32_t pc);
Dim3 thread_of(const Launch& launch, std::uint32_t linear_thread);

// A finding by the lowest of `lanes` (the others are counted) at the operation at `pc`. Fill in the
// rest and hand it to report().
check::Finding finding_at(const Warp& w, std::uint32_t pc, LaneMask lanes, check::Kind kind);

// A finding about the access of the lowest of `lanes`; the others are counted.
check::Finding access_finding(const Warp& w, const Request& r, isa::Space space, LaneMask lanes,
                              check::Kind kind);

// Records it. An error makes the warp and its block stop; information goes on.
void report(Warp& w, check::Finding finding);
// Whether the kernel goes on after a finding of this kind, where it can: because it is to go on, or
// since the kind is suppressed in it.
bool goes_on_after(const Launch& launch, check::Kind kind);
// The same for a finding after which the kernel could go on. False: it does.
bool report_unless_suppressed(Warp& w, check::Finding finding);
// Whether the kernel goes on after this kind, and the finding has been reported for the operation
// at `pc`: a loop may come to it very often. Then `times` more are counted.
bool already_reported(const Warp& w, check::Kind kind, std::uint32_t pc, std::uint64_t times = 1,
                      ReportedSite::As as = ReportedSite::As::kError);
// Whether this host thread is asked for the first time; a further time is counted.
bool first_time(Warp& w, check::Kind kind, std::uint32_t pc,
                ReportedSite::As as = ReportedSite::As::kError);
// Whether the finding was reported before as one that is known in a library; then `times` more are
// counted.
bool known_before(const Warp& w, check::Kind kind, std::uint32_t pc, ReportedSite::As as,
                  std::uint64_t times = 1);
// Makes the finding information, with what is known of it, where check/library_findings.h has it
// and the launch does not want it as an error.
bool is_known_in_library(const Launch& launch, check::Finding& finding,
                         check::RaceShape shape = check::RaceShape::kOther);
// Adds to the launch's findings how often a host thread has met them again.
void count_again(const Worker& worker, const Program& program, check::UniqueFindings& findings);
void report(Block& b, check::Finding finding);
// For the block at `position` of the schedule, which may be another than the one that noticed: only
// that block stops, unless it is this one.
void report_at(Block& b, std::uint64_t position, check::Finding finding);

// Remembers the lanes of a store to global memory that store nothing but what nobody has written.
void note_unwritten_store(Warp& w, const Request& r);

// "4 bytes past the end of 'y' (4096 bytes, cudaMalloc #3)" for a global address that is out of
// bounds.
std::string describe(const memory::DeviceMemory& memory, std::uint64_t address, std::uint32_t size);
std::string describe_range(const std::vector<Range>& ranges, std::uint32_t address,
                           std::uint32_t size);
// Where an address lies: "36 bytes into 's' (element 9, of 4 bytes)" of shared memory, where
// `width` is an element's, and "36 bytes into 'y' (4096 bytes, cudaMalloc #3)" of global memory.
// Empty where nothing is known to be there.
std::string describe_inside(Warp& w, isa::Space space, std::uint64_t address, std::uint32_t width);

}  // namespace lockstep::engine
