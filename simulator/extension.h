/* Functions of the simulated GPU beyond the CUDA runtime. A program resolves them at run time with
 * dlsym(RTLD_DEFAULT, name). NVIDIA's runtime has none of them: a null pointer means "not
 * available". But for lockstepSampleBlocks no function here changes the result of a kernel. */
#ifndef LOCKSTEP_SIMULATOR_EXTENSION_H_
#define LOCKSTEP_SIMULATOR_EXTENSION_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 for this header. A program that asks for less than the simulator has may go on. */
#define LOCKSTEP_EXTENSION_VERSION 1
typedef int (*lockstepExtensionVersion_t)(void);

/* Restricts kernels to [begin, begin + bytes) of the allocation that holds it, and names the range
 * in findings. A harness's guard bytes lie outside of it. Host copies may still reach all of the
 * allocation. Returns 0, or -1 when no live allocation holds the range. */
typedef int (*lockstepNameBuffer_t)(void* begin, size_t bytes, const char* name);

/* Makes the simulator take [begin, begin + bytes), which lies in one live allocation, for memory
 * that nobody has written, whatever it holds: for an output that was filled with a pattern, so that
 * a kernel which reads it before it writes it is found. 0, or -1 when the range is no such. */
typedef int (*lockstepMarkUnwritten_t)(void* begin, size_t bytes);

/* The findings since the last call, as one JSON array; the caller frees it with free(). Findings
 * that were taken count as seen: they no longer change the process's exit status. Fields: kind,
 * severity, kernel, space, block [x,y,z], thread [x,y,z], address, size, write, atomic, file, line,
 * inlined_into, ptx_line, instruction, where, detail, occurrences, text; other
 * {...} for a race, or of who waits at a barrier; origin {file, line, ...} of a value that nobody
 * wrote; survived (true) where the kernel went on; call and error of a call that failed (there
 * address is where the program made it); host_stacks [{what, frames [{function, file, line, object,
 * offset}, ...]}, ...]: how the program came to the launch or the failed call, and to where the
 * memory was allocated and freed, the innermost frame first. */
typedef char* (*lockstepTakeFindings_t)(void);

/* Clears the sticky error of every device, keeping their memory: hardware cannot do this. 0. */
typedef int (*lockstepClearError_t)(void);

/* Counters of the launches on the current device since the last reset; counting memory transactions
 * starts with the first call to Reset. */
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
  LOCKSTEP_FAILED_CALL = 4 /* a call of the runtime that returned an error; nothing was done, and
                              stream and captured say nothing */
} lockstepOperationKind;
typedef struct lockstepOperation {
  int kind;     /* lockstepOperationKind */
  int device;   /* that was current */
  int captured; /* 1: the stream was being captured, and this became a node of its graph */
  int error;    /* cudaError_t of a failed call */
  void* stream; /* as the program named it: null is the default stream */
  const char*
      call; /* the runtime's function, such as "cudaMemcpyAsync"; lives as long as the process */
} lockstepOperation;

/* Forgets the operations so far; with `on` not 0, those of all threads are kept from now on,
 * otherwise no more. 0. */
typedef int (*lockstepWatchOperations_t)(int on);
/* Copies the first `room` operations since then, in the order of the calls (work that a graph does
 * counts as its launch alone); returns how many there are. With room 0 the pointer may be null. */
typedef size_t (*lockstepReadOperations_t)(lockstepOperation* operations, size_t room);

/* Before each function of the runtime or driver API that this thread calls from now on,
 * `before(data)` is called; null: no more. What `before` calls itself is not announced. For tests
 * that let another thread act between two calls of a program. 0. */
typedef int (*lockstepBeforeCalls_t)(void (*before)(void* data), void* data);

/* How many operations were requested since the program last waited for anything and may be under
 * way on a GPU: those whose calls return before they are done ("API synchronization behavior", CUDA
 * Runtime API). Any wait counts for all of them. */
typedef size_t (*lockstepUnderWay_t)(void);

/* Of the grids that are launched from now on, so many blocks run (clusters, where there are some):
 * the first and the last of each grid. The others are taken for done, and what they would have
 * written is not there. For tests of grids that are too large to run as a whole: what the blocks
 * that run write must be right. 0: all blocks. Grids of cooperative launches run as a whole. 0, or
 * -1 when no simulated GPU could be started. */
typedef int (*lockstepSampleBlocks_t)(uint64_t blocks);

/* Every call of the runtime API that this thread makes fails with this cudaError_t from now on, and
 * nothing is done, whether or not it reaches the device; 0: no more. cudaGetLastError and
 * cudaPeekAtLastError return the thread's last error as before. For tests of what a program does
 * about the errors of its calls. 0. */
typedef int (*lockstepSetError_t)(int error);

/* How many allocations, streams, events and instantiated graphs exist: what the program has made
 * and not given back. Variables of modules are none of these. */
typedef size_t (*lockstepLiveObjects_t)(void);

/* What was set for a kernel (cudaFuncSetAttribute and the like). */
typedef struct lockstepLimit {
  const void* function; /* the kernel as the program names it */
  const char* kernel;   /* its name; lives as long as its module */
  int device;
  int attribute; /* cudaFuncAttribute */
  int value;
} lockstepLimit;
/* With `aside` not 0, all that is set for kernels is set aside: each kernel has what it has before
 * a program's first such call, and what is set from now on is kept for lockstepReadLimits. With 0
 * what was set aside is brought back; kernels for which nothing was set keep what they have now.
 * For tests of what a program sets by itself. 0, or -1 when no simulated GPU could be started. */
typedef int (*lockstepSetLimitsAside_t)(int aside);
/* Copies the first `room` that were set since limits were last set aside, in the order of the
 * calls of all threads; returns how many there are. With room 0 the pointer may be null. */
typedef size_t (*lockstepReadLimits_t)(lockstepLimit* limits, size_t room);

/* Every device says from now on that this attribute (cudaDeviceAttr) has this value, also in
 * cudaGetDeviceProperties, and cudaOccupancyMaxActiveClusters counts so many multiprocessors; it is
 * what it was. attribute -1: all have their own values again. For
 * tests of what a program does with the properties that it asks for. 0, or -1 when no simulated GPU
 * could be started. */
typedef int (*lockstepSetProperty_t)(int attribute, int value);

/* The schedule of later launches: 0 is the deterministic order, any other seed permutes blocks,
 * warps and lane groups. */
typedef int (*lockstepSetSchedule_t)(uint64_t seed);

/* A mask of check::Checks bits (simulator/check/finding.h: 1 bounds, 2 initialisation, 4 races, 8
 * synchronisation, 16 leaks, 32 strict barriers, 64 strict libraries, 128 strict writes) for what
 * follows; returns the mask before. */
typedef uint32_t (*lockstepSetChecks_t)(uint32_t checks);

/* Says that a part of the program begins, such as a case of a test, which leaves nothing behind
 * that other parts need. Returns 0 when the part may be left out: in a process that `lockstep
 * mutate` has made to judge one change, where nothing in the part comes to the change. Otherwise 1.
 */
typedef int (*lockstepBeginPart_t)(void);

/* When quiet is not 0, findings are not printed on stderr as they happen (they are still kept for
 * lockstepTakeFindings). Returns the value before. */
typedef int (*lockstepSetQuiet_t)(int quiet);

/* What this process has the device do, as text that another process can have done once more: for a
 * program that does not trust the code that it runs in this process, and judges what the device
 * does in a clean one. lockstepTranscribe: with `on` not 0, operations are written down when they
 * are executed, otherwise no more. 0, or -1 when no simulated GPU could be started.
 *
 * lockstepTakeTranscript: what has been written since the last call, a JSON array; the caller frees
 * it with free(). It has objects whose `do` is
 *   load         module (a number), texts (PTX in hexadecimal), room (see lockstepPlaceNext),
 * device place, free  base, size, kind (device, managed, pinned, registered) launch       module,
 * kernel, grid, block, cluster (if one was asked for), shared, cooperative, programmatic,
 * parameters (the bytes of the kernel's parameters, in hexadecimal) copy         within the device:
 * to and from [address, pitch, slice], shape [width, rows, slices] write        a copy from the
 * host: to, shape, bytes (in hexadecimal) read         a copy to the host fill         to, shape
 * (the width in elements), value, element (its size) library      call: of a library that computes
 * on the host unsupported  what: anything else that changes memory, which the transcript does not
 * have */
typedef int (*lockstepTranscribe_t)(int on);
typedef char* (*lockstepTakeTranscript_t)(void);

/* Allocates `bytes` of the current device's memory at the address that another process had it at;
 * cudaFree frees it. 0, or -1 where that is not free. */
typedef int (*lockstepPlaceMemory_t)(void* begin, size_t bytes);
/* The search for a place for later allocations begins at this address of the device's: a module
 * that is loaded next has its variables where another process had them, which loaded it from there.
 * 0, or -1 for an address outside of the device's. */
typedef int (*lockstepPlaceNext_t)(void* address);

/* Seals the extension, for a program that runs code which it does not trust in its own process:
 * until lockstepUnseal with the same key, which is not 0, every function here that changes
 * something ends the process with LOCKSTEP_EXIT_SEAL_BROKEN, after a sentence on stderr. So do
 * lockstepSeal where it is sealed, and lockstepUnseal with another key. 0; lockstepSeal: -1 for the
 * key 0. */
#define LOCKSTEP_EXIT_SEAL_BROKEN 94
typedef int (*lockstepSeal_t)(uint64_t key);
typedef int (*lockstepUnseal_t)(uint64_t key);

#ifdef __cplusplus
}
#endif
#endif /* LOCKSTEP_SIMULATOR_EXTENSION_H_ */
