// A decoded module: the compiler's output, which the engine runs.
//
// All functions of a module share one array of operations, so a program counter identifies the
// place of a lane. Data that is not needed during execution (source lines, operand lists, names)
// lies in separate arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulator/memory/device_memory.h"
#include "simulator/program/aligned.h"
#include "simulator/program/copies.h"
#include "simulator/program/load.h"
#include "simulator/program/matrix.h"
#include "simulator/program/meaning.h"
#include "simulator/program/operation.h"
#include "simulator/program/tensor_memory.h"
#include "simulator/ptx/ir.h"

namespace lockstep::program {

// The start of a kernel's shared memory, as on hardware of compute capability 9.0: the first
// kilobyte belongs to the system. A start above 0 also keeps a null shared pointer outside every
// variable.
inline constexpr std::uint32_t kSharedStart = 1024;
// [0, kReservedShared) of that kilobyte is for libraries that request it
// (%reserved_smem_offset_begin, _1, _end, _cap): 0, 0, 288 and 1024 on an H100. Cooperative groups
// keep the barriers of multi-warp tiles there and rely on zeros.
inline constexpr std::uint32_t kReservedShared = 288;
// Unused bytes between two shared variables, so that a small overrun is detected.
inline constexpr std::uint32_t kSharedGap = 128;
// The start of a thread's local memory. A null local pointer lies outside.
inline constexpr std::uint32_t kLocalStart = 1024;
// Addresses of functions, `kCodeStep` apart. They are far below anything that can be mapped.
inline constexpr std::uint64_t kCodeBase = 0x1000;
inline constexpr std::uint64_t kCodeStep = 16;

// A named range of shared or local memory. Offsets are relative to the start of the space (shared)
// or of the frame (local).
struct Range {
  std::string name;
  std::uint32_t begin = 0, end = 0;
};

// The source of an operation, by Op::origin.
struct Origin {
  std::string text;  // "ld.global.f32"
  ptx::SourceLocation source;
  std::uint32_t module = 0;  // index into Program::sources
  int ptx_line = 0;
  std::uint32_t function = 0;
  std::uint32_t instruction =
      0;  // index in its function's body; the body's size for the end of the function
  const isa::FormRow* row =
      nullptr;  // in the table of instruction forms; nullptr for the end of a function
};

// How an operation propagates the validity of its operands, by pc. Used by the checker of
// uninitialised values.
enum class ValidityTransfer : std::uint8_t {
  kCompute,       // the destination is derived from every source
  kCopy,          // the destination is a source, bit for bit
  kSelect,        // selp, slct: a copy of one of the first two sources; the last is the condition;
                  // Op::mode: Selects
  kLogic,         // and, or of predicates: one operand alone may decide; Op::mode: Decides
  kCompareLogic,  // setp with and, or: the comparison or the predicate, its third source, may
                  // decide
  // The result depends on some bits of the sources only (bit_flow.h).
  kShiftRight,
  kShiftRightSigned,
  kShiftLeft,  // by a constant, the second source
  kBitwise,  // and, or, xor, not: each bit depends on the bits in the same place; Op::mode: Bitwise
  kTable,    // lop3
  kExtract,
  kExtractSigned,  // bfe with constants
  kInsert,         // bfi with constants
  kPermute,        // prmt with a constant
  kConvert,
  kConvertSigned,  // between integers: kConvert from an unsigned one, kConvertSigned from a signed
                   // one
  kConvertFrom,    // derived from the low Op::width bytes of the source
  kLoad,
  kStore,
  kAtomic,
  kExchange,  // shfl, mma: from other lanes; the handler propagates it
  kControl,   // the sources decide the control flow
  kFresh,     // writes without reading
};

// The lanes in which a ValidityTransfer::kSelect copies the first source.
enum class Selects : std::uint8_t {
  kPredicate,  // the predicate is true
  kSign,
  kFloatSign,    // the s32 or f32 is at least zero
  kFlushedSign,  // the f32 is at least zero, with subnormals as zero
};

// The operation of a ValidityTransfer::kBitwise.
enum class Bitwise : std::uint8_t { kAnd, kOr, kXor, kNot };

// The value of one operand of a logical operation that makes the other irrelevant.
enum class Decides : std::uint8_t { kFalse, kTrue };

struct OperandUse {
  Slot slot = kNoSlot;
  enum class Role : std::uint8_t {
    kWrite,
    kValue,
    kAddress,
    kCondition,
    kFactor  // metadata of a sparse matrix, or a scale
  } role = Role::kValue;
};

struct Storage {  // a .param variable in a frame's register file: 32 lanes of `size` bytes side by
                  // side
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct Function {
  std::string name;
  std::string demangled;
  bool is_kernel = false;
  std::uint32_t entry = 0, end = 0;  // operations
  std::uint32_t file_bytes = 0;      // of one frame
  int registers = 0;                 // an estimate of the most 32-bit registers live at once
  std::vector<Storage> parameters, results;  // device functions
  std::vector<Range> local;                  // relative to the frame
  std::uint32_t local_bytes = 0;             // of one frame, a multiple of 16
  bool calls = false;                        // calls anything but built-in functions
  bool uses_alloca = false;
  std::vector<Slot> undefined;  // registers that some path may read before it writes them
  // Why it cannot run. For a function: the fault in it; the function then has no operations. For a
  // kernel: also the fault in a function that it may call.
  std::optional<LoadError> refusal;

  // Kernels only.
  std::vector<std::uint32_t> parameter_offsets, parameter_sizes;
  std::vector<std::string> parameter_names;
  bool parameters_in_memory = false;  // their address is taken, so they need one
  std::vector<Range> shared;          // static variables that this kernel may access
  std::uint32_t dynamic_shared_begin = kSharedStart;
  bool dynamic_shared = false;
  std::uint32_t dynamic_alignment = 16;
  std::uint32_t static_shared_bytes = 0;  // bytes without the gaps
  std::uint32_t local_total = 0;          // including everything it calls, as far as known
  bool reserved_shared =
      false;  // it, or a function it calls, reads the offsets of the system's shared memory
  bool byte_granular = false;  // accesses shared memory in units below four bytes
  std::uint32_t max_threads[3] = {0, 0, 0}, required_threads[3] = {0, 0, 0},
                required_cluster[3] = {0, 0, 0};
  int target = 0;
};

enum class Builtin : std::uint8_t {
  kNone,
  kVprintf,
  kMalloc,
  kFree,
  kAssertFail,
  kLaunchGrid,   // a launch from a kernel (runtime/state/device_library.h)
  kDeviceEvent,  // records an event in a kernel, or makes a stream wait for one
  kDeviceError,  // the last error of a thread
};

struct Call {
  std::int32_t function = -1;  // index; -1 if indirect or built in
  Builtin builtin = Builtin::kNone;
  std::string name;
  Slot target = kNoSlot;                    // indirect: 64-bit register
  std::vector<Storage> arguments, results;  // in the caller's register file
};

// Tables of one source text of the module.
struct Source {
  std::vector<std::string> files;
  std::vector<ptx::InlineSite> inline_sites;
};

struct Program {
  std::vector<Op> ops;
  std::vector<Origin> origins;
  std::vector<Source> sources;
  std::vector<std::uint32_t> use_begin;  // by pc, with one extra entry: the range in `uses`
  std::vector<OperandUse> uses;
  std::vector<ValidityTransfer> transfers;  // by pc
  std::vector<Meaning> meanings;            // by pc
  std::vector<Function> functions;
  std::vector<Call> calls;
  std::vector<BulkCopy> bulk_copies;
  std::vector<AsyncStore> async_stores;
  std::vector<Matrix> matrices;
  std::vector<TensorCopy> tensor_copies;
  std::vector<Multimem> multimem;
  std::vector<TensorOperation> tensor_operations;
  std::vector<Slot> slots;                         // operand lists of vector accesses
  std::vector<std::vector<std::uint32_t>> tables;  // brx targets
  // Weak loads whose value is the expected value of a compare-and-swap. A stale value only makes
  // the compare-and-swap fail (races.cc).
  std::unordered_set<std::uint32_t> guesses;
  AlignedBytes constants;
  std::size_t constant_bytes = 0;
  std::unordered_map<std::string, const memory::Allocation*> variables;
  PlacedVariables placed;    // all variables, in the order of the texts
  ManagedVariables managed;  // the managed ones among them
  std::uint32_t const_space_bytes = 0;
  bool launches_grids = false;    // some function may launch grids
  bool cluster_barriers = false;  // some function has barrier.cluster

  const Origin& origin(std::uint32_t pc) const { return origins[ops[pc].origin]; }
  const Function& function_at(std::uint32_t pc) const { return functions[origin(pc).function]; }
};

}  // namespace lockstep::program
