/* The interface of the simulated runtime for libraries that stand in for NVIDIA's
 * (simulator/libraries). It makes a call of a library an operation of a stream, like a kernel. A
 * function of the library executes the operation on the host, in the order of the stream. The
 * operation may be captured into a graph. Each region of device memory that it accesses is checked.
 */
#ifndef LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_
#define LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_

#include <driver_types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of an operation's access to a region. */
typedef enum lockstepRegionUse {
  LOCKSTEP_READS = 0,
  LOCKSTEP_WRITES = 1,
  LOCKSTEP_SCRATCH = 2,    /* a workspace: counts as unwritten afterwards */
  LOCKSTEP_READS_ALONE = 3 /* reads; must not overlap memory that the operation writes */
} lockstepRegionUse;

/* `depth` slices of `height` rows of `width` bytes. Rows begin `pitch` bytes apart, slices `slice`
 * bytes. A column of a matrix is a row here, and so is an element of a vector with gaps. */
typedef struct lockstepRegion {
  const char* name; /* the argument, as the library's documentation names it: "A" */
  const void* begin;
  size_t width, height, depth, pitch, slice;
  size_t alignment; /* of `begin`, in bytes; 0: any */
  int use;          /* lockstepRegionUse */
} lockstepRegion;

/* One execution of an operation. */
typedef struct lockstepRunningWork lockstepRunningWork;

typedef struct lockstepLibraryWork {
  const char* call; /* the library's function; lives as long as the process */
  /* Executes the operation. Returns 0, or another value if a region could not be opened. Called
   * once for each execution, by any thread, under the runtime's lock. Must not call other functions
   * of the runtime. */
  int (*run)(const void* data, lockstepRunningWork* running);
  void (*release)(void* data); /* called after the last execution */
  void* data;
  /* Arguments that point to memory. If the memory is pinned or managed, the host must not access it
   * before the operation is complete. */
  const void* const* pointers;
  size_t pointer_count;
  int waits; /* not 0: the call waits for the operation */
} lockstepLibraryWork;

/* Declares that the code at `address` belongs to a library that stands in for one of NVIDIA's, so
 * that findings name the code that calls it. Call once for each library. */
void lockstepStandIn(const void* address);

/* Puts the work into the stream, or into the graph to which the stream is captured. Returns a
 * cudaError_t. `data` is released in any case. Waiting work invalidates a capture. */
int lockstepPutLibraryWork(cudaStream_t stream, const lockstepLibraryWork* work);

/* Returns the host address of the region's bytes, which have the same pitch and slice. Reports
 * errors of the access: out-of-bounds, use-after-free, misaligned, a race with other work or with
 * memory that the operation reads ALONE, and uninitialised for memory that is read. Returns a null
 * pointer if there is no such memory; the operation must then end with an error. A region that is
 * opened for writing counts as written, so all regions that are read must be opened first. */
void* lockstepOpenRegion(lockstepRunningWork* running, const lockstepRegion* region);

/* cudaMemcpy2DAsync or, if `blocks` is not 0, cudaMemcpy2D, called by the library's function
 * `call`. */
int lockstepCopyRows(const char* call, int blocks, void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t width, size_t height, int kind, cudaStream_t stream);

/* Reports that a call of the library has failed, if failed calls are reported. `status` and `text`
 * are the returned status in the library's words; `reason` names the wrong argument. `refused`: the
 * program is not at fault; the requested feature is not simulated. */
void lockstepLibraryCallFailed(const char* call, const char* status, const char* text,
                               const char* reason, int refused);

#ifdef __cplusplus
}
#endif
#endif /* LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_ */
