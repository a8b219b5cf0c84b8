#include "simulator/check/finding.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace lockstep::check {
namespace {

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return buffer;
}

std::string place(const Access& a) {
  return format("block (%u,%u,%u) thread (%u,%u,%u)", a.block.x, a.block.y, a.block.z, a.thread.x,
                a.thread.y, a.thread.z);
}

const char* direction(const Access& a) {
  return a.is_atomic ? "atomic access" : a.is_write ? "write" : "read";
}

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::kOutOfBounds: return "out-of-bounds";
    case Kind::kMisaligned: return "misaligned";
    case Kind::kUseAfterFree: return "use-after-free";
    case Kind::kReadOnlyWrite: return "read-only-write";
    case Kind::kUninitialised: return "uninitialised";
    case Kind::kRace: return "race";
    case Kind::kBarrierDivergence: return "barrier-divergence";
    case Kind::kInvalidMask: return "invalid-mask";
    case Kind::kInactiveLane: return "inactive-lane";
    case Kind::kDeadlock: return "deadlock";
    case Kind::kTimeLimit: return "time-limit";
    case Kind::kUnsupported: return "unsupported";
    case Kind::kTrap: return "trap";
    case Kind::kAssert: return "assert";
    case Kind::kInvalidInstruction: return "invalid-instruction";
    case Kind::kStackOverflow: return "stack-overflow";
    case Kind::kHostAccess: return "host-access";
    case Kind::kInvalidProgramCounter: return "invalid-program-counter";
    case Kind::kMbarrierMisuse: return "mbarrier-misuse";
    case Kind::kAsyncOrder: return "async-order";
    case Kind::kMissingProxyFence: return "missing-proxy-fence";
    case Kind::kLeak: return "leak";
    case Kind::kIncompleteCheck: return "incomplete-check";
    case Kind::kRefused: return "refused";
    case Kind::kApiError: return "api-error";
  }
  return "unknown";
}

// These are the codes that the hardware returns for mistakes that it detects (driver_types.h).
// Mistakes that only a check detects return a launch failure.
int cuda_error(Kind kind) {
  switch (kind) {
    case Kind::kOutOfBounds:
    case Kind::kUseAfterFree:
    case Kind::kReadOnlyWrite:
    case Kind::kHostAccess: return 700;             // cudaErrorIllegalAddress
    case Kind::kMisaligned: return 716;             // cudaErrorMisalignedAddress
    case Kind::kTimeLimit: return 702;              // cudaErrorLaunchTimeout
    case Kind::kUnsupported: return 801;            // cudaErrorNotSupported
    case Kind::kAssert: return 710;                 // cudaErrorAssert
    case Kind::kTrap: return 719;                   // cudaErrorLaunchFailure
    case Kind::kInvalidInstruction: return 715;     // cudaErrorIllegalInstruction
    case Kind::kStackOverflow: return 714;          // cudaErrorHardwareStackError
    case Kind::kInvalidProgramCounter: return 718;  // cudaErrorInvalidPc
    case Kind::kUninitialised:
    case Kind::kRace:
    case Kind::kBarrierDivergence:
    case Kind::kInvalidMask:
    case Kind::kInactiveLane:
    case Kind::kDeadlock:
    case Kind::kMbarrierMisuse:
    case Kind::kAsyncOrder:
    case Kind::kMissingProxyFence: return 719;
    case Kind::kLeak:
    case Kind::kIncompleteCheck:
    case Kind::kRefused:
    case Kind::kApiError: return 0;  // no kernel fails with these
  }
  return 719;
}

std::string Site::to_string() const {
  if (file.empty()) {
    return format("PTX line %d (%s); build with -lineinfo for the source line", ptx_line,
                  instruction.c_str());
  }
  std::string s = format("%s:%d (%s)", file.c_str(), line, instruction.c_str());
  if (!inlined_into.empty()) s += ", inlined at " + inlined_into;
  return s;
}

namespace {

// The other side of a race.
std::string against(const Access& other) {
  if (other.site.instruction.empty() && !other.operation.empty())
    return "\n  against " + other.operation;  // a call of the host
  std::string s = format("\n  against %s by %s", direction(other), place(other).c_str());
  if (!other.operation.empty()) s += " of " + other.operation;
  return s + "\n  at " + other.site.to_string();
}

// A failed call names its own place: a stack of one frame would repeat it.
std::string frames(const Finding& f) {
  std::string all;
  for (const HostStack& stack : f.host_stacks) {
    std::string text;
    int known = 0;
    for (const HostFrame& frame : stack.frames) {
      if (frame.file.empty()) continue;
      ++known;
      text += "\n    at " + frame.file + ":" + std::to_string(frame.line);
      if (!frame.function.empty()) text += ", in " + frame.function;
    }
    if (known > (f.by_host() && stack.what == "called" ? 1 : 0)) all += "\n  " + stack.what + text;
  }
  return all;
}

}  // namespace

std::string Finding::to_string() const { return message() + frames(*this); }

std::string Finding::message() const {
  std::string s = name(kind);
  if (severity == Severity::kInformation) s += " (information)";
  s += ": ";
  if (!access.site.instruction.empty()) s += access.site.instruction;
  if (access.size != 0) s += format(" of %u bytes at 0x%" PRIx64, access.size, access.address);
  if (!where.empty()) s += (s.ends_with(' ') ? "" : ", ") + where;
  if (by_host()) {
    if (kind == Kind::kRefused && call.empty()) {
      if (!access.site.file.empty())
        s += format("\n  at %s:%d", access.site.file.c_str(), access.site.line);
    } else {
      s += "\n  by the host";
      if (!access.operation.empty()) s += ", " + access.operation;
    }
    if (other) s += against(*other);
    // For a failed call the detail is the place.
    const bool is_place = kind == Kind::kApiError || kind == Kind::kRefused || kind == Kind::kLeak;
    if (!detail.empty()) s += (!call.empty() && is_place ? ", " : "\n  ") + detail;
    if (occurrences > 1 && !call.empty()) s += format("\n  %" PRIu64 " times", occurrences);
    // The driver API has no last error to ask for.
    if (call.starts_with("cuda") && severity == Severity::kInformation)
      s += "\n  The program asked for it with cudaGetLastError.";
    return s;
  }
  s += "\n  in kernel " + (access.operation.empty() ? kernel : access.operation);
  s += "\n  by " + place(access);
  // If the kernel continues, a thread may reach a place more than once.
  const bool times = survived || severity == Severity::kInformation;
  const char* const one = times ? "time, by this or another thread" : "thread";
  const char* const many = times ? "times, by this and other threads" : "threads";
  if (occurrences > 1)
    s += format(", and %" PRIu64 " more %s", occurrences - 1, occurrences == 2 ? one : many);
  s += "\n  at " + access.site.to_string();
  if (other) {
    // A barrier is neither read nor written, so this is no "against".
    s += kind == Kind::kBarrierDivergence
             ? "\n  while " + place(*other) + " waits\n  at " + other->site.to_string()
             : against(*other);
  }
  if (!detail.empty()) s += "\n  " + detail;
  if (survived) s += "\n  The kernel went on.";
  return s;
}

bool same_site(const Site& a, const Site& b) {
  // An unrolled loop has many PTX instructions for one source line.
  return a.instruction == b.instruction && a.line == b.line && a.file == b.file &&
         a.inlined_into == b.inlined_into && (!a.file.empty() || a.ptx_line == b.ptx_line);
}

namespace {

bool is_failure(const Finding& f) { return f.kind == Kind::kApiError || f.kind == Kind::kRefused; }

bool same_failure(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.call == b.call && a.error == b.error && a.kernel == b.kernel &&
         a.caller == b.caller && (!a.call.empty() || a.where == b.where);
}

}  // namespace

bool same_place(const Finding& a, const Finding& b) {
  if (is_failure(a) || is_failure(b)) return same_failure(a, b);
  if (a.by_host() || b.by_host())
    return a.by_host() && b.by_host() && a.kind == b.kind && a.caller != nullptr &&
           a.caller == b.caller;
  if (a.kind != b.kind || a.severity != b.severity || a.kernel != b.kernel ||
      a.origin.has_value() != b.origin.has_value())
    return false;
  // The finding that ended the kernel is never a repetition of one that the kernel survived.
  if (a.survived != b.survived) return false;
  if (a.origin) return same_site(*a.origin, *b.origin);
  // Either side of a race may be the one that notices it.
  const bool swapped = a.kind == Kind::kRace && a.other && b.other &&
                       same_site(a.access.site, b.other->site) &&
                       same_site(a.other->site, b.access.site);
  return swapped || same_site(a.access.site, b.access.site);
}

}  // namespace lockstep::check
