// Memory of other processes that is open in this one.
#pragma once

namespace lockstep::runtime {

// Whether cudaIpcOpenMemHandle returned the address and it has not been closed since. Call under
// the device lock.
bool is_of_another_process(const void* pointer);

}  // namespace lockstep::runtime
