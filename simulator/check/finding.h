// A finding: what a check reports. All kinds have the same fields, so all findings read alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::check {

// The checks that run, one bit each. kAllChecks are on by default; the others must be enabled.
enum Checks : std::uint32_t {
  kNoChecks = 0,
  kBounds = 1u << 0,          // out of bounds, misaligned, use after free, null, write to read-only
  kInitialisation = 1u << 1,  // use of memory or registers never written
  kRaces = 1u << 2,           // unordered conflicting accesses
  kSynchronisation = 1u << 3,  // barrier divergence, masks, deadlock
  kAllChecks = kBounds | kInitialisation | kRaces | kSynchronisation,
  kLeaks = 1u << 4,  // memory that is never freed; a check of the program, not of a launch
  kStrictBarriers =
      1u << 5,  // a barrier that threads have skipped by ending is an error, not information
  kStrictLibraries = 1u << 6,  // the findings that library_findings.h lists are errors
  kStrictWrites = 1u << 7,     // a race of two writes of the same value is an error
  kStrictProxies = 1u << 8,    // an asynchronous copy that overwrites what ordinary loads read,
                               // without a fence, is an error
};

enum class Kind : std::uint8_t {
  kOutOfBounds,   // no live allocation holds the address, or the access leaves the one it starts in
  kMisaligned,    // address not a multiple of the access size
  kUseAfterFree,  // the allocation that held the address has been freed
  kReadOnlyWrite,      // store to constant memory or through a read-only view
  kUninitialised,      // a value that nobody wrote, from memory or a register, is used
  kRace,               // two conflicting accesses, at least one a write, that nothing orders
  kBarrierDivergence,  // some threads of the block never arrive at the barrier, or arrive at
                       // another one
  kInvalidMask,        // a *.sync whose mask omits its own caller, or names lanes that never arrive
  kInactiveLane,       // shuffle source lane that does not take part
  kDeadlock,           // nothing in the block (or grid, for a grid barrier) can run
  kTimeLimit,          // the kernel ran past its instruction limit
  kUnsupported,  // the kernel uses something that the simulated GPU lacks, such as waiting for the
                 // host after the launch
  kTrap,         // trap instruction
  kAssert,       // device-side assert
  kInvalidInstruction,     // executed with operands for which PTX leaves the behaviour undefined
  kStackOverflow,          // local memory or call depth exhausted
  kHostAccess,             // host code touched device memory
  kInvalidProgramCounter,  // indirect call or branch to something that is no function
  kMbarrierMisuse,         // an mbarrier object used against its protocol
  kAsyncOrder,  // registers of an asynchronous matrix multiplication (wgmma), or tensor memory,
                // accessed without the fence before it or the wait after it
  kMissingProxyFence,  // an asynchronous copy reads what ordinary stores wrote, or its tensor map,
                       // without a fence.proxy between
  kLeak,  // memory that was still allocated when the process ended or its device was reset
  kIncompleteCheck,  // information: from here on a check sees only part of this launch
  kRefused,          // the simulated GPU refused device code or a launch, which never ran
  kApiError,         // a call of the runtime API that failed
};

// Stable lower-case name used in reports, suppressions and tests: "out-of-bounds",
// "use-after-free", ...
const char* name(Kind kind);

// The cudaError_t the launch fails with (driver_types.h): 700, 716, 719, ...
int cuda_error(Kind kind);

enum class Severity : std::uint8_t { kInformation, kError };

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// A place in the program: CUDA source when the PTX has line information, always the PTX line and
// instruction.
struct Site {
  std::string file;  // empty without -lineinfo
  int line = 0;
  std::string inlined_into;  // "caller.cu:12 in caller", empty when not inlined
  int ptx_line = 0;
  std::string instruction;  // "ld.global.f32"
  // Files of the calls between `file` and `inlined_into`, where the instruction was inlined.
  std::vector<std::string> through;
  std::string to_string() const;  // "stencil.cu:41 (ld.global.f32)" or "PTX line 88
                                  // (ld.global.f32); build with -lineinfo for the source line"
};

struct Access {
  Site site;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint64_t address = 0;
  std::uint32_t size = 0;  // bytes
  bool is_write = false;
  bool is_atomic = false;
  // Set if the race is between operations: the kernel with its stream, or the host's call with its
  // place in the program. Empty otherwise.
  std::string operation;
};

// A function of the host's program, and the place in it that a call stack names.
struct HostFrame {
  std::string function;  // demangled; empty where the object has no symbol there
  std::string file;      // empty without debug information
  int line = 0;
  std::string object;        // the program or library
  std::uint64_t offset = 0;  // in `object`, as addr2line expects it
};

// The host's call stack at a call, innermost frame first.
struct HostStack {
  std::string what;  // "allocated by cudaMalloc", "freed by cudaFree", "launched", "called"
  std::vector<HostFrame> frames;
};

struct Finding {
  Kind kind = Kind::kOutOfBounds;
  Severity severity = Severity::kError;
  std::string kernel;  // demangled
  Access access;
  std::string space;            // "global", "shared", "local", "constant", ""
  std::string where;            // "4 bytes past the end of 'y' (4096 bytes, cudaMalloc #3)"
  std::string detail;           // one more sentence where it helps: what to look for
  std::optional<Access> other;  // the other side of a race, or the barrier others wait at
  std::optional<Site> origin;  // of an uninitialised value, or one from a shuffle: the load, atomic
                               // or shuffle that returned it to the thread
  std::string call;  // the API function, if a call of the host failed. Then there is no thread, and
                     // `kernel` is the launched kernel, if any
  std::string error;              // the error that the call returned: "cudaErrorInvalidValue"
  const void* caller = nullptr;   // the calling place in the host's program, if known
  std::uint64_t occurrences = 1;  // how often threads met this kind at this place
  bool survived = false;          // the kernel continued as if there had been no mistake
  // First the launch or the failed call, then the allocation and the freeing of the memory in
  // question.
  std::vector<HostStack> host_stacks;

  // The whole report, several lines, without a trailing newline. The host's stacks show only frames
  // with a source line.
  std::string to_string() const;
  // The report without the host's stacks.
  std::string message() const;
  // Whether the host, not a kernel, made the mistake.
  bool by_host() const { return !call.empty() || kernel.empty(); }
};

// Whether two sites are one place for the reader: the same instruction of one source line. Without
// source lines, of one PTX line.
bool same_site(const Site& a, const Site& b);
// Whether two findings report the same mistake.
// - In a kernel: the same kind at the same instruction, and both or neither survived. Uses of a
//   value from one load are one mistake. A race is one mistake whichever side notices it.
// - On the host: the same kind at the same known caller. A failed call, or refused device code,
//   must also have the same error and kernel.
bool same_place(const Finding& a, const Finding& b);

}  // namespace lockstep::check
