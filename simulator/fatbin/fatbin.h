// Reads the container in which nvcc embeds device code, and selects the PTX image that a device can
// run.
//
// The layout is NVIDIA's and undocumented. The fields used here were derived from the output of
// nvcc 13.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lockstep::fatbin {

enum class Kind : std::uint16_t { kPtx = 1, kElf = 2, kLtoIr = 8 };

struct Image {
  Kind kind = Kind::kPtx;
  int arch = 0;     // 90 for sm_90 / compute_90
  char suffix = 0;  // 'a' (this architecture only), 'f' (its family) or 0
  int ptx_major = 0, ptx_minor = 0;
  bool debug = false;
  std::string name;                // identifier given by nvcc, often empty
  std::string options;             // e.g. "--generate-line-info"
  std::vector<std::uint8_t> data;  // decompressed; PTX text without its trailing NUL
};

struct Error {
  std::string message;
};

// Reads all images of one container, which starts with its magic number 0xBA55ED50. Decompresses
// PTX (raw, LZ4, zstd); other kinds keep their stored bytes. `bytes` may extend past the container.
// Returns an Error with the offset for malformed input.
std::variant<std::vector<Image>, Error> read_container(std::span<const std::uint8_t> bytes);

// The PTX image with the highest architecture that is not above `compute_capability` (90 for 9.0).
// An image with suffix 'a' fits only exactly this capability, one with 'f' only its family. nullptr
// if none fits.
const Image* choose_ptx(const std::vector<Image>& images, int compute_capability);

// Whether machine code contains a function. nvcc links an image without functions into a program
// that has no device code.
bool has_functions(const Image& elf);

// Whether this is the container of libcudadevrt, NVIDIA's runtime in kernels: machine code for
// every device, and PTX only for the newest.
bool is_device_runtime(const std::vector<Image>& images);

// One sentence that explains why choose_ptx() found no image and which nvcc flag to add.
std::string explain_no_ptx(const std::vector<Image>& images, int compute_capability);

}  // namespace lockstep::fatbin
