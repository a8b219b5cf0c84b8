// Functions of the C library to which the program gives memory that may be protected.
//
// The kernel does not raise a signal for it: read(2) into a protected page returns EFAULT. So the
// program's calls of these functions, and those of its libraries, are led to ours, which count the
// buffer as accessed, and open it first. So are sigaction() and the like, for the signals that
// faults.h uses. The slots of the objects' procedure linkage tables are changed for it: there, a
// function of the C library that calls another is not seen.
#pragma once

#include <cstddef>

namespace lockstep::runtime {

// The program gives the bytes to a function that reads or writes them; it returns to `from`.
using AccessForACall = void (*)(const void* begin, std::size_t bytes, bool writes,
                                const void* from);

// Leads the calls of all objects of the process that have come since. Under the device lock.
void lead_libc_calls(AccessForACall access);

}  // namespace lockstep::runtime
