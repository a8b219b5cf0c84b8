// libnvJitLink.so.13 for the simulated GPU: the linker that clients such as Numba and cuda.core
// call for machine code. It forwards everything to the driver's linker (cuLink*, link_calls.cc).
// Every function that loads code accepts the result.
//
// Contract: nvJitLink.h of CUDA 13. Inputs are PTX and fat binaries with PTX. Link-time
// intermediate code, machine code and objects return NVJITLINK_ERROR_INVALID_INPUT, with a message
// in the error log. The version is 12.2, because clients rely on link-time optimisation from the
// next version on; with 12.2, Numba and cuda.core compile to PTX and call the driver's linker. Each
// function is exported under the names of all minor versions, because the header calls
// __nvJitLinkCreate_13_0 and so on. A link without a context uses device 0's primary context.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

// nvJitLinkResult and nvJitLinkInputType.
enum Result {
  kSuccess = 0,
  kUnknownOption = 1,
  kMissingArch = 2,
  kInvalidInput = 3,
  kInternal = 6,
  kNullInput = 10
};
enum Input { kCubin = 1, kPtx, kLtoIr, kFatBinary, kObject, kLibrary, kIndex, kAny = 10 };

struct Piece {
  CUjitInputType type;
  std::string bytes, name;
};

struct Linker {
  unsigned registers = 0;
  std::vector<Piece> pieces;
  std::string linked, error, info;
};

// Makes sure of a current context while it exists.
class WithContext {
 public:
  WithContext() {
    CUcontext current = nullptr;
    CUdevice device = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuCtxGetCurrent(&current) != CUDA_SUCCESS ||
        current != nullptr || cuDeviceGet(&device, 0) != CUDA_SUCCESS)
      return;
    if (cuDevicePrimaryCtxRetain(&current, device) != CUDA_SUCCESS) return;
    retained_ = true;
    cuCtxSetCurrent(current);
  }
  ~WithContext() {
    if (!retained_) return;
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease(0);
  }
  WithContext(const WithContext&) = delete;
  WithContext& operator=(const WithContext&) = delete;

 private:
  bool retained_ = false;
};

CUjitInputType find_type(std::string_view bytes) {
  constexpr std::uint32_t kContainerMagic = 0xba55ed50;
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic == kContainerMagic) return CU_JIT_INPUT_FATBINARY;
  return bytes.starts_with("\177ELF") ? CU_JIT_INPUT_CUBIN : CU_JIT_INPUT_PTX;
}

Result create(Linker** handle, std::uint32_t count, const char** options) {
  if (handle == nullptr || (count > 0 && options == nullptr)) return kNullInput;
  auto linker = std::make_unique<Linker>();
  bool has_arch = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view option = options[i];
    constexpr std::string_view kRegisters = "-maxrregcount=";
    if (option.starts_with("-arch=")) {
      has_arch = option.starts_with("-arch=sm_") || option.starts_with("-arch=compute_");
      if (!has_arch) return kUnknownOption;
    }
    if (option.starts_with(kRegisters))
      linker->registers =
          static_cast<unsigned>(std::strtoul(options[i] + kRegisters.size(), nullptr, 10));
  }
  if (!has_arch) return kMissingArch;
  *handle = linker.release();
  return kSuccess;
}

Result destroy(Linker** handle) {
  if (handle == nullptr || *handle == nullptr) return kNullInput;
  delete *handle;
  *handle = nullptr;
  return kSuccess;
}

Result refuse(Linker& linker, const std::string& name, const char* what) {
  linker.error += (name.empty() ? "an input" : name) + " is " + what +
                  ", which the simulated GPU does not run: it links PTX\n";
  return kInvalidInput;
}

Result add_data(Linker* linker, int type, const void* data, std::size_t size, const char* name) {
  if (linker == nullptr || data == nullptr || size == 0) return kNullInput;
  Piece piece{CU_JIT_INPUT_PTX, std::string(static_cast<const char*>(data), size),
              name == nullptr ? "" : name};
  switch (type) {
    case kPtx: break;
    case kFatBinary: piece.type = CU_JIT_INPUT_FATBINARY; break;
    case kAny: piece.type = find_type(piece.bytes); break;
    case kLibrary: piece.type = CU_JIT_INPUT_LIBRARY; break;
    case kLtoIr: return refuse(*linker, piece.name, "link-time intermediate code (LTO)");
    // An earlier result of this linker counts as a cubin and cannot be linked again.
    case kCubin: piece.type = CU_JIT_INPUT_CUBIN; break;
    case kObject: piece.type = CU_JIT_INPUT_OBJECT; break;
    default: return kInvalidInput;
  }
  if (piece.type == CU_JIT_INPUT_CUBIN) return refuse(*linker, piece.name, "machine code");
  linker->pieces.push_back(std::move(piece));
  return kSuccess;
}

bool read_file(const char* path, std::string* bytes);

Result add_file(Linker* linker, int type, const char* path) {
  std::string bytes;
  if (linker == nullptr || path == nullptr) return kNullInput;
  if (!read_file(path, &bytes)) {
    linker->error += std::string(path) + " cannot be read\n";
    return kInvalidInput;
  }
  return add_data(linker, type, bytes.data(), bytes.size(), path);
}

Result complete(Linker* linker) {
  if (linker == nullptr) return kNullInput;
  const WithContext context;
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_MAX_REGISTERS};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log),
                    reinterpret_cast<void*>(static_cast<std::uintptr_t>(linker->registers))};
  CUlinkState state = nullptr;
  CUresult result = cuLinkCreate(linker->registers > 0 ? 3 : 2, options, values, &state);
  for (Piece& piece : linker->pieces) {
    if (result == CUDA_SUCCESS)
      result = cuLinkAddData(state, piece.type, piece.bytes.data(), piece.bytes.size(),
                             piece.name.c_str(), 0, nullptr, nullptr);
  }
  void* code = nullptr;
  std::size_t size = 0;
  if (result == CUDA_SUCCESS) result = cuLinkComplete(state, &code, &size);
  if (result == CUDA_SUCCESS) {
    linker->linked.assign(static_cast<const char*>(code), size);
  } else {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    linker->error += log[0] != '\0' ? log : text != nullptr ? text : "the link failed";
  }
  if (state != nullptr) cuLinkDestroy(state);
  return result == CUDA_SUCCESS ? kSuccess : kInternal;
}

// The size of a text or of code, and its bytes. Logs end with a zero.
Result get_size(const std::string& text, std::size_t* size, bool is_log) {
  if (size == nullptr) return kNullInput;
  *size = text.size() + (is_log && !text.empty() ? 1 : 0);
  return kSuccess;
}

Result get(const std::string& text, void* to, bool is_log) {
  if (text.empty()) return kSuccess;
  if (to == nullptr) return kNullInput;
  std::memcpy(to, text.data(), text.size());
  if (is_log) static_cast<char*>(to)[text.size()] = '\0';
  return kSuccess;
}

bool read_file(const char* path, std::string* bytes) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char buffer[65536];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    bytes->append(buffer, n);
  const bool all = std::ferror(file) == 0;
  std::fclose(file);
  return all;
}

}  // namespace

// Exports one function under the names of all minor versions.
#define ALIAS(name, version, arguments)          \
  int __nvJitLink##name##_13_##version arguments \
      __attribute__((alias("nvJitLink" #name), visibility("default")))
#define EXPORT(name, arguments) \
  ALIAS(name, 0, arguments);    \
  ALIAS(name, 1, arguments);    \
  ALIAS(name, 2, arguments);    \
  ALIAS(name, 3, arguments);    \
  ALIAS(name, 4, arguments);    \
  ALIAS(name, 5, arguments);    \
  ALIAS(name, 6, arguments);    \
  ALIAS(name, 7, arguments);    \
  ALIAS(name, 8, arguments);    \
  ALIAS(name, 9, arguments);    \
  __attribute__((visibility("default"))) int nvJitLink##name arguments

extern "C" {

EXPORT(Create, (Linker * *handle, std::uint32_t count, const char** options)) {
  return create(handle, count, options);
}
EXPORT(Destroy, (Linker * *handle)) { return destroy(handle); }
EXPORT(AddData, (Linker * linker, int type, const void* data, std::size_t size, const char* name)) {
  return add_data(linker, type, data, size, name);
}
EXPORT(AddFile, (Linker * linker, int type, const char* path)) {
  return add_file(linker, type, path);
}
EXPORT(Complete, (Linker * linker)) { return complete(linker); }
EXPORT(GetLinkedCubinSize, (Linker * linker, std::size_t* size)) {
  return linker == nullptr ? kNullInput : get_size(linker->linked, size, false);
}
EXPORT(GetLinkedCubin, (Linker * linker, void* to)) {
  return linker == nullptr ? kNullInput : get(linker->linked, to, false);
}
// PTX and intermediate code are results of links with -lto only.
EXPORT(GetLinkedPtxSize, (Linker*, std::size_t*)) { return kInvalidInput; }
EXPORT(GetLinkedPtx, (Linker*, char*)) { return kInvalidInput; }
EXPORT(GetLinkedLTOIRSize, (Linker*, std::size_t*)) { return kInvalidInput; }
EXPORT(GetLinkedLTOIR, (Linker*, void*)) { return kInvalidInput; }
EXPORT(GetErrorLogSize, (Linker * linker, std::size_t* size)) {
  return linker == nullptr ? kNullInput : get_size(linker->error, size, true);
}
EXPORT(GetErrorLog, (Linker * linker, char* to)) {
  return linker == nullptr ? kNullInput : get(linker->error, to, true);
}
EXPORT(GetInfoLogSize, (Linker * linker, std::size_t* size)) {
  return linker == nullptr ? kNullInput : get_size(linker->info, size, true);
}
EXPORT(GetInfoLog, (Linker * linker, char* to)) {
  return linker == nullptr ? kNullInput : get(linker->info, to, true);
}
__attribute__((visibility("default"))) int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) return kNullInput;
  *major = 12;
  *minor = 2;
  return kSuccess;
}

}  // extern "C"
