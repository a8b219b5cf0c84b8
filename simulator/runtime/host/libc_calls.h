// Intercepts functions of the C library to which the program passes memory that may be protected.
//
// The kernel raises no signal for these accesses: read(2) into a protected page returns EFAULT. So
// calls of these functions, by the program and its libraries, are redirected to ours. Ours count
// the buffer as accessed and open it first. sigaction() and related functions are redirected, too,
// for the signals that faults.h uses. The redirection changes the slots of the procedure linkage
// tables of loaded objects. Calls within the C library are not intercepted.
#pragma once

#include <cstddef>

namespace lockstep::runtime {

// The program passes the bytes to a function that reads or writes them; the call returns to `from`.
using AccessForACall = void (*)(const void* begin, std::size_t bytes, bool writes,
                                const void* from);

// Redirects the calls of all objects that were loaded since the last call. Call under the device
// lock.
void lead_libc_calls(AccessForACall access);

}  // namespace lockstep::runtime
