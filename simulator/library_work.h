/* What libraries of the simulated GPU that stand in for NVIDIA's (simulator/libraries) ask of the
 * simulated runtime: that a call of theirs is an operation of a stream, as a kernel is. The
 * operation is executed when its stream comes to it, by a function of the library on the host. It
 * may be captured into a graph. Each region of device memory that it accesses is checked. */
#ifndef LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_
#define LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_

#include <driver_types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an operation does to a region. */
typedef enum lockstepRegionUse {
  LOCKSTEP_READS = 0,
  LOCKSTEP_WRITES = 1,
  LOCKSTEP_SCRATCH = 2,    /* a workspace: afterwards it is as if nobody had written it */
  LOCKSTEP_READS_ALONE = 3 /* what the operation writes must not overlap it */
} lockstepRegionUse;

/* `depth` slices of `height` rows of `width` bytes; rows begin `pitch` bytes apart, and slices
 * `slice` bytes. A column of a matrix is a row here, and so is an element of a vector with gaps. */
typedef struct lockstepRegion {
  const char* name; /* the argument, as the library's documentation names it: "A" */
  const void* begin;
  size_t width, height, depth, pitch, slice;
  size_t alignment; /* of `begin`, in bytes; 0: any */
  int use;          /* lockstepRegionUse */
} lockstepRegion;

/* An operation while it is executed. */
typedef struct lockstepRunningWork lockstepRunningWork;

typedef struct lockstepLibraryWork {
  const char* call; /* the library's function; lives as long as the process */
  /* Computes: 0, or not 0 where a region could not be opened. Called once for each execution, by
   * any thread, under the lock of the runtime, whose other functions it may not call. */
  int (*run)(const void* data, lockstepRunningWork* running);
  void (*release)(void* data); /* when no execution is to come */
  void* data;
  /* Arguments that point to memory: where that is pinned or managed, the host may not access it
   * before the operation has been executed. */
  const void* const* pointers;
  size_t pointer_count;
  int waits; /* not 0: the call returns when the operation has been executed */
} lockstepLibraryWork;

/* The code that holds `address` is a library that stands in for one of NVIDIA's: findings name the
 * code that calls it. Once for each library. */
void lockstepStandIn(const void* address);

/* Puts the work into the stream, or into the graph that the stream is captured to; a cudaError_t.
 * `data` is released in any case. A wait while the stream is captured makes the capture invalid. */
int lockstepPutLibraryWork(cudaStream_t stream, const lockstepLibraryWork* work);

/* Where the bytes of the region are for the host, at the distances that the region has. Reports
 * what is wrong with an access to it: out-of-bounds, use-after-free, misaligned, a race with others
 * or with what the operation reads ALONE, and for what is read uninitialised. A null pointer: there
 * is no such memory, and the operation must end with an error. What is to be written counts as
 * written. All that is read is opened before it. */
void* lockstepOpenRegion(lockstepRunningWork* running, const lockstepRegion* region);

/* cudaMemcpy2DAsync, or with `blocks` cudaMemcpy2D, made by the library's function `call`. */
int lockstepCopyRows(const char* call, int blocks, void* to, size_t to_pitch, const void* from,
                     size_t from_pitch, size_t width, size_t height, int kind, cudaStream_t stream);

/* A call of the library has failed: a finding, where failed calls are findings. `status` and `text`
 * are what it returns, in the library's words, and `reason` says which argument is wrong.
 * `refused`: not the program is at fault, but what it wants is not simulated. */
void lockstepLibraryCallFailed(const char* call, const char* status, const char* text,
                               const char* reason, int refused);

#ifdef __cplusplus
}
#endif
#endif /* LOCKSTEP_SIMULATOR_LIBRARY_WORK_H_ */
