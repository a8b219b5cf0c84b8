// What a checker reports: one finding, the same shape for every kind, so that all findings read
// alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::check {

// Which checks run; a bit each. kAllChecks are on by default; the others must be asked for.
enum Checks : std::uint32_t {
  kNoChecks = 0,
  kBounds = 1u << 0,          // out of bounds, misaligned, use after free, null, write to read-only
  kInitialisation = 1u << 1,  // use of memory or registers never written
  kRaces = 1u << 2,           // unordered conflicting accesses
  kSynchronisation = 1u << 3,  // barrier divergence, masks, deadlock
  kAllChecks = kBounds | kInitialisation | kRaces | kSynchronisation,
  kLeaks = 1u << 4,  // memory that is never freed: of the program, not of a launch
  kStrictBarriers =
      1u << 5,  // a barrier that threads have skipped by ending is an error and not information
  kStrictLibraries = 1u << 6,  // so are the findings that library_findings.h knows
  kStrictWrites = 1u << 7,     // so is a race of two writes of the same value
  kStrictProxies = 1u << 8,    // and an asynchronous copy over what ordinary loads read, unfenced
};

enum class Kind : std::uint8_t {
  kOutOfBounds,   // no live allocation holds the address, or the access leaves the one it starts in
  kMisaligned,    // address not a multiple of the access size
  kUseAfterFree,  // the allocation that held the address has been freed
  kReadOnlyWrite,      // store to constant memory or through a read-only view
  kUninitialised,      // value from memory or a register nobody wrote, at its use
  kRace,               // two conflicting accesses, at least one a write, that nothing orders
  kBarrierDivergence,  // some threads of the block never come to the barrier, or come to another
                       // one
  kInvalidMask,   // a *.sync whose mask leaves out its own caller, or names lanes that never come
  kInactiveLane,  // shuffle source lane that does not take part
  kDeadlock,      // nothing in the block (or grid, for a grid barrier) can run
  kTimeLimit,     // the kernel ran past its instruction limit
  kUnsupported,  // the kernel needs what a GPU does and the simulated one cannot: it waits for what
                 // the host does after the launch
  kTrap,         // trap instruction
  kAssert,       // device-side assert
  kInvalidInstruction,     // executed with operands for which PTX leaves the behaviour undefined
  kStackOverflow,          // local memory or call depth exhausted
  kHostAccess,             // host code touched device memory
  kInvalidProgramCounter,  // indirect call or branch to something that is no function
  kMbarrierMisuse,         // an mbarrier object used against its protocol
  kAsyncOrder,  // registers of an asynchronous matrix multiplication (wgmma), or tensor memory,
                // touched where nothing orders it: no fence before, no wait after
  kMissingProxyFence,  // what ordinary stores left is read by an asynchronous copy, or is its
                       // tensor map, and no fence.proxy stands between
  kLeak,  // memory that was still allocated when the process ended or its device was reset
  kIncompleteCheck,  // information: from here on a check knows only a part of what happens in this
                     // launch
  kRefused,          // device code or a launch that the simulated GPU did not take: it never ran
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
  // Where a race is between operations: the kernel with its stream, or the call of the host with
  // its place in the program. Else empty.
  std::string operation;
};

// A function of the host's program, and the place in it that a call stack names.
struct HostFrame {
  std::string function;  // demangled; empty where the object has no symbol there
  std::string file;      // empty without debug information
  int line = 0;
  std::string object;        // the program or library
  std::uint64_t offset = 0;  // in it, as addr2line takes it
};

// How the host's program came to a call, the innermost frame first.
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
  std::optional<Site> origin;   // of a value that nobody wrote, or that a shuffle gave: the load,
                                // atomic or shuffle from which the thread has it
  std::string call;   // the API function, where a call of the host failed: then there is no thread,
                      // and `kernel` is the one launched, if any
  std::string error;  // what the call answered: "cudaErrorInvalidValue"
  const void* caller = nullptr;   // the place in the host's program, where it is known
  std::uint64_t occurrences = 1;  // threads and times the same place met the same kind
  bool survived = false;          // the kernel went on as if nothing had been there
  // The launch or the failed call, then where the memory in question was allocated and freed.
  std::vector<HostStack> host_stacks;

  // The whole report, several lines, no trailing newline. Of the host's stacks it has the frames
  // with a source line.
  std::string to_string() const;
  // The same without the host's stacks.
  std::string message() const;
  // Whether no kernel made the mistake.
  bool by_host() const { return !call.empty() || kernel.empty(); }
};

// Whether they are one place to the reader of the program: the same instruction of one line, or of
// one line of PTX where the source is not known.
bool same_site(const Site& a, const Site& b);
// Whether two findings are one mistake met twice. Of a kernel: of one kind at one instruction, and
// both or neither survived. What comes from one load is one mistake wherever it is used, and a race
// is one whichever side notices it. Of the host: of one kind at one known caller. A failed call, or
// refused device code, is the same with the same caller, error and kernel.
bool same_place(const Finding& a, const Finding& b);

}  // namespace lockstep::check
