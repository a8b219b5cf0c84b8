/* Functions of the simulated GPU beyond the CUDA runtime. A program resolves them at run time with
 * dlsym(RTLD_DEFAULT, name). NVIDIA's runtime has none of them: a null pointer means "not
 * available". No function here changes the result of a kernel, except lockstepSampleBlocks. */
#ifndef LOCKSTEP_SIMULATOR_EXTENSION_H_
#define LOCKSTEP_SIMULATOR_EXTENSION_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 for this header. A program for an older version than the simulator's may run. */
#define LOCKSTEP_EXTENSION_VERSION 1
typedef int (*lockstepExtensionVersion_t)(void);

/* Restricts kernels to [begin, begin + bytes) of the allocation that contains it, and names the
 * range in findings. A harness's guard bytes lie outside of the range. Host copies may still access
 * the whole allocation. Returns 0, or -1 if no live allocation contains the range. */
typedef int (*lockstepNameBuffer_t)(void* begin, size_t bytes, const char* name);

/* Marks [begin, begin + bytes) as unwritten memory, whatever it contains. For an output that was
 * filled with a pattern: a kernel that reads it before writing it is then reported. Returns 0, or
 * -1 if the range does not lie in one live allocation. */
typedef int (*lockstepMarkUnwritten_t)(void* begin, size_t bytes);

/* Returns the findings since the last call, as one JSON array; the caller frees it with free().
 * Returned findings count as handled: they no longer change the process's exit status. Fields:
 * - kind, severity, kernel, space, block [x,y,z], thread [x,y,z], address, size, write, atomic,
 * file, line, inlined_into, ptx_line, instruction, where, detail, occurrences, text;
 * - other {...}: the other access of a race, or the threads that wait at a barrier;
 * - origin {file, line, ...}: the origin of an unwritten value;
 * - survived (true): the kernel continued;
 * - call, error: a call that failed; address is then the place of the call in the program;
 * - host_stacks [{what, frames [{function, file, line, object, offset}, ...]}, ...]: the stacks of
 * the launch or the failed call, and of the allocation and free of the memory, innermost frame
 * first.
 */
typedef char* (*lockstepTakeFindings_t)(void);

/* As lockstepTakeFindings, but returns the errors alone. Findings of severity "information" are
 * dropped. */
typedef char* (*lockstepTakeErrors_t)(void);

/* Clears the sticky error of every device and keeps their memory, which hardware cannot do. Returns
 * 0. */
typedef int (*lockstepClearError_t)(void);

/* Counters of the launches on the current device since the last reset. Memory transactions are only
 * counted after the first call of lockstepResetCounters. */
typedef struct lockstepCounters {
  size_t size; /* set to sizeof(lockstepCounters) by the caller */
  uint64_t launches, warp_instructions, thread_instructions;
  uint64_t global_load_requests, global_load_sectors, global_load_lines;
  uint64_t global_store_requests, global_store_sectors, global_store_lines;
  uint64_t shared_load_requests, shared_load_bank_conflicts, shared_store_requests,
      shared_store_bank_conflicts;
  uint64_t shuffles, votes, atomics, barriers;
} lockstepCounters;
typedef int (*lockstepResetCounters_t)(void);
typedef int (*lockstepReadCounters_t)(lockstepCounters* counters);

/* The kinds of operations that a program requests of a GPU. */
typedef enum lockstepOperationKind {
  LOCKSTEP_KERNEL = 0, /* a launch */
  LOCKSTEP_COPY = 1,
  LOCKSTEP_FILL = 2,
  LOCKSTEP_OTHER_WORK = 3, /* a host function, an event to record, a whole graph, ... */
  LOCKSTEP_FAILED_CALL = 4 /* a call of the runtime that returned an error and did nothing; stream
                              and captured have no meaning */
} lockstepOperationKind;
typedef struct lockstepOperation {
  int kind;     /* lockstepOperationKind */
  int device;   /* the current device */
  int captured; /* 1: the stream was being captured, and the operation became a graph node */
  int error;    /* cudaError_t of a failed call */
  void* stream; /* as the program named it: null is the default stream */
  const char*
      call; /* the runtime's function, such as "cudaMemcpyAsync"; lives as long as the process */
} lockstepOperation;

/* Clears the list of operations. If `on` is not 0, records the operations of all threads from now
 * on; otherwise stops recording. Returns 0. */
typedef int (*lockstepWatchOperations_t)(int on);
/* Copies the first `room` recorded operations, in the order of the calls. A graph launch counts as
 * one operation. Returns the number of recorded operations. If `room` is 0, the pointer may be
 * null. */
typedef size_t (*lockstepReadOperations_t)(lockstepOperation* operations, size_t room);

/* Calls `before(data)` before each function of the runtime or driver API that this thread calls
 * from now on, except calls made by `before`; null: no longer. For tests that let another thread
 * run between two calls of a program. Returns 0. */
typedef int (*lockstepBeforeCalls_t)(void (*before)(void* data), void* data);

/* Returns the number of operations that a GPU might still be executing: operations requested since
 * the program last waited for anything, whose calls return before they are complete ("API
 * synchronization behavior", CUDA Runtime API). Any wait counts for all operations. */
typedef size_t (*lockstepUnderWay_t)(void);

/* Runs only this number of blocks (or clusters) of each grid that is launched from now on: the
 * first and the last ones. The other blocks count as complete without having written anything. For
 * tests of grids that are too large to run completely: the memory written by the executed blocks
 * must be right. 0: all blocks. Cooperative launches always run completely. Returns 0, or -1 if no
 * simulated GPU could be started. */
typedef int (*lockstepSampleBlocks_t)(uint64_t blocks);

/* From now on, every call of the runtime API by this thread fails with this cudaError_t and has no
 * effect; 0: no longer. cudaGetLastError and cudaPeekAtLastError still return the thread's last
 * error. For tests of a program's error handling. Returns 0. */
typedef int (*lockstepSetError_t)(int error);

/* Returns the number of allocations, streams, events and instantiated graphs that the program has
 * created and not destroyed. Variables of modules do not count. */
typedef size_t (*lockstepLiveObjects_t)(void);

/* An attribute that was set for a kernel (cudaFuncSetAttribute and similar calls). */
typedef struct lockstepLimit {
  const void* function; /* the kernel as the program names it */
  const char* kernel;   /* its name; lives as long as its module */
  int device;
  int attribute; /* cudaFuncAttribute */
  int value;
} lockstepLimit;
/* If `aside` is not 0, saves the attributes of all kernels and resets them to their initial values;
 * attributes set from now on are recorded for lockstepReadLimits. If `aside` is 0, restores the
 * saved attributes; kernels without saved attributes keep their current ones. For tests of the
 * attributes that a program sets. Returns 0, or -1 if no simulated GPU could be started. */
typedef int (*lockstepSetLimitsAside_t)(int aside);
/* Copies the first `room` attributes recorded since limits were last set aside, in the order of the
 * calls of all threads. Returns the number of recorded attributes. If `room` is 0, the pointer may
 * be null. */
typedef size_t (*lockstepReadLimits_t)(lockstepLimit* limits, size_t room);

/* Makes every device report this value for this attribute (cudaDeviceAttr), also in
 * cudaGetDeviceProperties and, for the number of multiprocessors, cudaOccupancyMaxActiveClusters.
 * The device itself does not change. attribute -1: all attributes have their own values again. For
 * tests of how a program uses device properties. Returns 0, or -1 if no simulated GPU could be
 * started. */
typedef int (*lockstepSetProperty_t)(int attribute, int value);

/* Sets the schedule of later launches: 0 is the deterministic order, any other seed permutes
 * blocks, warps and lane groups. */
typedef int (*lockstepSetSchedule_t)(uint64_t seed);

/* Sets the checks for later launches and calls: a mask of check::Checks bits
 * (simulator/check/finding.h: 1 bounds, 2 initialisation, 4 races, 8 synchronisation, 16 leaks, 32
 * strict barriers, 64 strict libraries, 128 strict writes). Returns the previous mask. */
typedef uint32_t (*lockstepSetChecks_t)(uint32_t checks);

/* Marks the beginning of a part of the program, such as a test case, on which no other part
 * depends. Returns 0 if the part may be skipped: in a process that `lockstep mutate` runs to judge
 * one change, if the part does not execute the changed code. Otherwise returns 1. */
typedef int (*lockstepBeginPart_t)(void);

/* If `quiet` is not 0, findings are not printed on stderr; lockstepTakeFindings still returns them.
 * Returns the previous value. */
typedef int (*lockstepSetQuiet_t)(int quiet);

/* Records the operations that this process executes on the device, as text that another process can
 * replay. For a program that does not trust the code in its own process and judges the device's
 * work in a clean one. If `on` is not 0, operations are recorded when they are executed; otherwise
 * recording stops. Returns 0, or -1 if no simulated GPU could be started.
 *
 * lockstepTakeTranscript returns the operations recorded since its last call, as a JSON array; the
 * caller frees it with free(). Each object's `do` is one of these, with the fields named:
 * - load: module (a number), texts (PTX in hexadecimal), room (see lockstepPlaceNext), device;
 * - place, free: base, size, kind (device, managed, pinned, registered);
 * - launch: module, kernel, grid, block, cluster (if requested), shared, cooperative, programmatic,
 *   parameters (the bytes of the kernel's parameters, in hexadecimal);
 * - copy (within the device): to and from [address, pitch, slice], shape [width, rows, slices];
 * - write (a copy from the host): to, shape, bytes (in hexadecimal);
 * - read (a copy to the host);
 * - fill: to, shape (the width in elements), value, element (its size);
 * - library: call, of a library that computes on the host;
 * - unsupported: what, for any other change of memory, which the transcript does not contain. */
typedef int (*lockstepTranscribe_t)(int on);
typedef char* (*lockstepTakeTranscript_t)(void);

/* Allocates `bytes` of the current device's memory at an address that it had in another process;
 * cudaFree frees it. Returns 0, or -1 if the address is not free. */
typedef int (*lockstepPlaceMemory_t)(void* begin, size_t bytes);
/* Sets the device address at which the search for later allocations' places begins. A module that
 * is loaded next gets the same addresses for its variables as in a process that loaded it from
 * there. Returns 0, or -1 for an address outside of the device's addresses. */
typedef int (*lockstepPlaceNext_t)(void* address);

/* Seals the extension, for a program that runs code which it does not trust in its own process.
 * Until lockstepUnseal is called with the same key, every function here that changes something ends
 * the process with LOCKSTEP_EXIT_SEAL_BROKEN after a message on stderr. A second lockstepSeal and
 * lockstepUnseal with another key end it too. Both return 0; lockstepSeal returns -1 for the key 0.
 */
#define LOCKSTEP_EXIT_SEAL_BROKEN 94
typedef int (*lockstepSeal_t)(uint64_t key);
typedef int (*lockstepUnseal_t)(uint64_t key);

#ifdef __cplusplus
}
#endif
#endif /* LOCKSTEP_SIMULATOR_EXTENSION_H_ */
