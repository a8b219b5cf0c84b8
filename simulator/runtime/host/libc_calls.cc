#include "simulator/runtime/host/libc_calls.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "simulator/runtime/host/faults.h"
#include "simulator/runtime/host/guarded_pages.h"

namespace lockstep::runtime {
namespace {

std::atomic<AccessForACall> access_of{nullptr};

#define FROM __builtin_return_address(0)

void give(const void* begin, std::size_t bytes, bool writes, const void* from) {
  if (const AccessForACall access = access_of.load(std::memory_order_relaxed))
    access(begin, bytes, writes, from);
}
void give(const iovec* parts, std::size_t count, bool writes, const void* from) {
  for (std::size_t i = 0; i < count; ++i) give(parts[i].iov_base, parts[i].iov_len, writes, from);
}

ssize_t our_read(int file, void* to, std::size_t bytes) {
  give(to, bytes, true, FROM);
  return read(file, to, bytes);
}
ssize_t our_read_chk(int file, void* to, std::size_t bytes, std::size_t room) {
  if (bytes > room) __builtin_trap();
  give(to, bytes, true, FROM);
  return read(file, to, bytes);
}
ssize_t our_pread(int file, void* to, std::size_t bytes, off_t at) {
  give(to, bytes, true, FROM);
  return pread(file, to, bytes, at);
}
ssize_t our_pread_chk(int file, void* to, std::size_t bytes, off_t at, std::size_t room) {
  if (bytes > room) __builtin_trap();
  give(to, bytes, true, FROM);
  return pread(file, to, bytes, at);
}
ssize_t our_readv(int file, const iovec* parts, int count) {
  if (count > 0) give(parts, static_cast<std::size_t>(count), true, FROM);
  return readv(file, parts, count);
}
ssize_t our_recv(int socket, void* to, std::size_t bytes, int flags) {
  give(to, bytes, true, FROM);
  return recv(socket, to, bytes, flags);
}
ssize_t our_recv_chk(int socket, void* to, std::size_t bytes, std::size_t room, int flags) {
  if (bytes > room) __builtin_trap();
  give(to, bytes, true, FROM);
  return recv(socket, to, bytes, flags);
}
ssize_t our_recvfrom(int socket, void* to, std::size_t bytes, int flags, sockaddr* address,
                     socklen_t* length) {
  give(to, bytes, true, FROM);
  return recvfrom(socket, to, bytes, flags, address, length);
}
ssize_t our_recvmsg(int socket, msghdr* message, int flags) {
  if (message != nullptr) give(message->msg_iov, message->msg_iovlen, true, FROM);
  return recvmsg(socket, message, flags);
}
ssize_t our_write(int file, const void* from, std::size_t bytes) {
  give(from, bytes, false, FROM);
  return write(file, from, bytes);
}
ssize_t our_pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  give(from, bytes, false, FROM);
  return pwrite(file, from, bytes, at);
}
ssize_t our_writev(int file, const iovec* parts, int count) {
  if (count > 0) give(parts, static_cast<std::size_t>(count), false, FROM);
  return writev(file, parts, count);
}
ssize_t our_send(int socket, const void* from, std::size_t bytes, int flags) {
  give(from, bytes, false, FROM);
  return send(socket, from, bytes, flags);
}
ssize_t our_sendto(int socket, const void* from, std::size_t bytes, int flags,
                   const sockaddr* address, socklen_t length) {
  give(from, bytes, false, FROM);
  return sendto(socket, from, bytes, flags, address, length);
}
ssize_t our_sendmsg(int socket, const msghdr* message, int flags) {
  if (message != nullptr) give(message->msg_iov, message->msg_iovlen, false, FROM);
  return sendmsg(socket, message, flags);
}
std::size_t our_fread(void* to, std::size_t size, std::size_t count, FILE* file) {
  give(to, size * count, true, FROM);
  return fread(to, size, count, file);
}
std::size_t our_fread_chk(void* to, std::size_t room, std::size_t size, std::size_t count,
                          FILE* file) {
  if (size * count > room) __builtin_trap();
  give(to, size * count, true, FROM);
  return fread(to, size, count, file);
}
std::size_t our_fread_unlocked(void* to, std::size_t size, std::size_t count, FILE* file) {
  give(to, size * count, true, FROM);
  return fread_unlocked(to, size, count, file);
}
std::size_t our_fwrite(const void* from, std::size_t size, std::size_t count, FILE* file) {
  give(from, size * count, false, FROM);
  return fwrite(from, size, count, file);
}
std::size_t our_fwrite_unlocked(const void* from, std::size_t size, std::size_t count, FILE* file) {
  give(from, size * count, false, FROM);
  return fwrite_unlocked(from, size, count, file);
}

// A set of blocked signals without those that protected pages raise.
struct Without {
  sigset_t set;
  explicit Without(const sigset_t* of) {
    set = *of;
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGTRAP);
  }
};

int our_sigaction(int signal, const struct sigaction* action, struct sigaction* former) {
  if (keep_program_action(signal, action, former)) return 0;
  if (action == nullptr) return sigaction(signal, action, former);
  struct sigaction open = *action;
  open.sa_mask = Without(&action->sa_mask).set;
  return sigaction(signal, &open, former);
}
sighandler_t our_signal(int number, sighandler_t handler) {
  struct sigaction action {
  }, former{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (!keep_program_action(number, &action, &former)) return signal(number, handler);
  return former.sa_handler;
}
int our_pthread_sigmask(int how, const sigset_t* set, sigset_t* former) {
  if (set == nullptr || how == SIG_UNBLOCK) return pthread_sigmask(how, set, former);
  const Without open(set);
  return pthread_sigmask(how, &open.set, former);
}
int our_sigprocmask(int how, const sigset_t* set, sigset_t* former) {
  if (set == nullptr || how == SIG_UNBLOCK) return sigprocmask(how, set, former);
  const Without open(set);
  return sigprocmask(how, &open.set, former);
}

struct Led {
  std::string_view name;
  void* ours;
};

#define LED(name) \
  { #name, reinterpret_cast < void*>(&our_##name) }
const Led kLed[] = {
    LED(read),
    {"__read_chk", reinterpret_cast<void*>(&our_read_chk)},
    LED(pread),
    {"pread64", reinterpret_cast<void*>(&our_pread)},
    {"__pread_chk", reinterpret_cast<void*>(&our_pread_chk)},
    {"__pread64_chk", reinterpret_cast<void*>(&our_pread_chk)},
    LED(readv),
    LED(recv),
    {"__recv_chk", reinterpret_cast<void*>(&our_recv_chk)},
    LED(recvfrom),
    LED(recvmsg),
    LED(write),
    LED(pwrite),
    {"pwrite64", reinterpret_cast<void*>(&our_pwrite)},
    LED(writev),
    LED(send),
    LED(sendto),
    LED(sendmsg),
    LED(fread),
    {"__fread_chk", reinterpret_cast<void*>(&our_fread_chk)},
    LED(fread_unlocked),
    LED(fwrite),
    LED(fwrite_unlocked),
    LED(sigaction),
    LED(signal),
    LED(pthread_sigmask),
    LED(sigprocmask),
};

bool is_of_system(const dl_phdr_info& info) {
  const std::string_view path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view prefix :
       {"libc.so", "libpthread.so", "ld-linux", "linux-vdso", "libasan", "libtsan", "libubsan"})
    if (name.starts_with(prefix)) return true;
  return false;
}

struct Object {
  const dl_phdr_info& info;

  const ElfW(Phdr) * header(unsigned type) const {
    for (int i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == type) return &info.dlpi_phdr[i];
    return nullptr;
  }
  bool holds(const void* at) const {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& h = info.dlpi_phdr[i];
      const std::uintptr_t begin = info.dlpi_addr + h.p_vaddr;
      if (h.p_type == PT_LOAD && reinterpret_cast<std::uintptr_t>(at) - begin < h.p_memsz)
        return true;
    }
    return false;
  }
  // Whether the dynamic linker has taken the right to write there away.
  bool is_read_only(std::uintptr_t at) const {
    const auto* const relro = header(PT_GNU_RELRO);
    return relro != nullptr && at - (info.dlpi_addr + relro->p_vaddr) < relro->p_memsz;
  }
};

void write_slot(const Object& object, std::uintptr_t at, void* value) {
  auto* const slot = reinterpret_cast<void**>(at);
  if (*slot == value) return;
  const bool read_only = object.is_read_only(at);
  auto* const page = reinterpret_cast<void*>(at & ~(kPageBytes - 1));
  if (read_only && mprotect(page, kPageBytes, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) mprotect(page, kPageBytes, PROT_READ);
}

void lead(const Object& object) {
  const auto* const dynamic = object.header(PT_DYNAMIC);
  if (dynamic == nullptr) return;
  const ElfW(Rela) * tables[2] = {nullptr, nullptr};
  std::size_t sizes[2] = {0, 0};
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  bool with_addends = true;
  const auto* d = reinterpret_cast<const ElfW(Dyn)*>(object.info.dlpi_addr + dynamic->p_vaddr);
  for (; d->d_tag != DT_NULL; ++d) {
    switch (d->d_tag) {
      case DT_JMPREL: tables[0] = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr); break;
      case DT_PLTRELSZ: sizes[0] = d->d_un.d_val; break;
      case DT_RELA: tables[1] = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr); break;
      case DT_RELASZ: sizes[1] = d->d_un.d_val; break;
      case DT_PLTREL: with_addends = d->d_un.d_val == DT_RELA; break;
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(d->d_un.d_ptr); break;
      default: break;
    }
  }
  if (symbols == nullptr || names == nullptr || !with_addends) return;
  for (int t = 0; t < 2; ++t) {
    for (std::size_t i = 0; tables[t] != nullptr && i < sizes[t] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& r = tables[t][i];
      const auto type = ELF64_R_TYPE(r.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(r.r_info)];
      if (symbol.st_shndx != SHN_UNDEF) continue;
      const std::string_view name = names + symbol.st_name;
      const Led* const led = std::find_if(std::begin(kLed), std::end(kLed),
                                          [&](const Led& l) { return l.name == name; });
      if (led != std::end(kLed)) write_slot(object, object.info.dlpi_addr + r.r_offset, led->ours);
    }
  }
}

unsigned long long seen = 0;  // objects that had come when this was last done

int visit(dl_phdr_info* info, std::size_t size, void* fresh) {
  if (size < offsetof(dl_phdr_info, dlpi_subs)) return 1;
  if (info->dlpi_adds == seen) return 1;
  *static_cast<unsigned long long*>(fresh) = info->dlpi_adds;
  static const char here = 0;
  const Object object{*info};
  if (!is_of_system(*info) && !object.holds(&here)) lead(object);
  return 0;
}

}  // namespace

void lead_libc_calls(AccessForACall access) {
#if defined(__x86_64__)
  access_of = access;
  unsigned long long fresh = seen;
  dl_iterate_phdr(visit, &fresh);
  seen = fresh;
#else
  (void)access;
#endif
}

}  // namespace lockstep::runtime
