// Memory shared by another process (CUDA IPC): the program starts itself with --lend.
#pragma once

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace lockstep::streams {

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

// Shares 256 bytes and an event until stdin ends. Returns the exit status of main for --lend.
inline int lend() {
  Handles handles;
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  if (cudaMalloc(&memory, 256) != cudaSuccess ||
      cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming) !=
          cudaSuccess ||
      cudaIpcGetMemHandle(&handles.memory, memory) != cudaSuccess ||
      cudaIpcGetEventHandle(&handles.event, event) != cudaSuccess)
    return 3;
  std::fwrite(&handles, sizeof handles, 1, stdout);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

// A lending process, which lives as long as this object, and its handles.
class Lent {
 public:
  Lent() {
    int forth[2], back[2];
    if (pipe(forth) != 0 || pipe(back) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(forth[0], 0);
      dup2(back[1], 1);
      for (const int end : {forth[0], forth[1], back[0], back[1]}) ::close(end);
      execl("/proc/self/exe", "lends", "--lend", nullptr);
      _exit(1);
    }
    ::close(forth[0]);
    ::close(back[1]);
    until_ = forth[1];
    valid_ = read(back[0], &handles_, sizeof handles_) == sizeof handles_;
    ::close(back[0]);
  }
  ~Lent() {
    ::close(until_);
    waitpid(process_, nullptr, 0);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  // Null if the memory cannot be opened.
  int* open() const {
    int* data = nullptr;
    if (valid_)
      cudaIpcOpenMemHandle(reinterpret_cast<void**>(&data), handles_.memory,
                           cudaIpcMemLazyEnablePeerAccess);
    return data;
  }
  cudaEvent_t open_event() const {
    cudaEvent_t event = nullptr;
    if (valid_) cudaIpcOpenEventHandle(&event, handles_.event);
    return event;
  }

 private:
  Handles handles_;
  bool valid_ = false;
  int until_ = -1;
  pid_t process_ = -1;
};

}  // namespace lockstep::streams
