#include "simulator/fatbin/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

namespace lockstep::fatbin {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint16_t kContainerVersion = 1;
constexpr std::uint16_t kEntryVersion = 0x0101;
constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kEntryHeader = 64;

// Flags of an entry.
constexpr std::uint64_t kDebug = 0x2;
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstd = 0x8000;
constexpr std::uint64_t kThisArchitecture = 0x100000;
constexpr std::uint64_t kFamily = 0x200000;

// The largest libraries have some tens of megabytes of PTX. A larger size means that the file is
// damaged.
constexpr std::uint64_t kLargestText = 1ull << 30;

// The offsets of the fields in bytes from the start of an entry.
namespace at {
constexpr std::size_t kKind = 0, kVersion = 2, kHeaderSize = 4, kStoredSize = 8,
                      kCompressedSize = 16, kOptionBlock = 20, kPtxMinor = 24, kPtxMajor = 26,
                      kArch = 28, kName = 32, kNameLength = 36, kFlags = 40, kRawSize = 56;
}

// Reads a little-endian field. The caller must have checked that it lies inside.
template <class T>
T read(Bytes bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(bytes[offset + i]) << (8 * i));
  return value;
}

Error error_at(std::size_t offset, const std::string& what) {
  char where[48];
  std::snprintf(where, sizeof where, "fatbin, offset 0x%zx: ", offset);
  return {where + what};
}

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

// `length` characters at `offset` from the start of an entry, within its header of `header` bytes.
// nullopt if they exceed the header.
std::optional<std::string> header_text(Bytes entry, std::uint32_t header, std::uint32_t offset,
                                       std::uint32_t length) {
  if (offset > header || length > header - offset) return std::nullopt;
  std::string s(reinterpret_cast<const char*>(entry.data()) + offset, length);
  s.resize(std::min(s.size(), s.find('\0')));
  const std::size_t first = s.find_first_not_of(' ');
  return first == std::string::npos ? std::string()
                                    : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

// An upper bound of the decompressed size, so that a damaged size does not exhaust memory before
// decompression.
std::uint64_t most_text(Bytes stored, std::uint64_t flags) {
  if ((flags & kZstd) == 0)
    return std::uint64_t{255} * stored.size();  // a byte of LZ4 stands for no more
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) return 0;
  // A frame may omit its size, and more frames may follow.
  return size == ZSTD_CONTENTSIZE_UNKNOWN ||
                 ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()
             ? kLargestText
             : size;
}

// Empty on failure; `why` then describes the failure.
std::vector<std::uint8_t> decompress(Bytes stored, std::uint64_t flags, std::uint64_t raw_size,
                                     std::string& why) {
  std::vector<std::uint8_t> out;
  if (raw_size == 0 || raw_size > kLargestText) {
    why = "a decompressed size of " + std::to_string(raw_size) + " bytes";
    return out;
  }
  if (const std::uint64_t most = most_text(stored, flags); raw_size > most) {
    why = "the header says " + std::to_string(raw_size) + " bytes, " +
          std::to_string(stored.size()) + " that are stored can hold " + std::to_string(most);
    return out;
  }
  out.resize(raw_size);
  if ((flags & kZstd) != 0) {
    const std::size_t n = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(n)) {
      why = std::string("zstd: ") + ZSTD_getErrorName(n);
    } else if (n != raw_size) {
      why =
          "zstd gave " + std::to_string(n) + " bytes, the header says " + std::to_string(raw_size);
    }
  } else {
    if (stored.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      why = "an LZ4 block too large for its decoder";
      return {};
    }
    const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                      reinterpret_cast<char*>(out.data()),
                                      static_cast<int>(stored.size()), static_cast<int>(raw_size));
    if (n < 0) {
      why = "the LZ4 block is damaged";
    } else if (static_cast<std::uint64_t>(n) != raw_size) {
      why = "LZ4 gave " + std::to_string(n) + " bytes, the header says " + std::to_string(raw_size);
    }
  }
  if (!why.empty()) out.clear();
  return out;
}

// Reads the entry at `start`; `end` is the end of the container. Sets `next` to the entry after it.
std::variant<Image, Error> read_entry(Bytes bytes, std::size_t start, std::size_t end,
                                      std::size_t& next) {
  const std::size_t room = end - start;
  if (room < kEntryHeader)
    return error_at(start, "an image header needs 64 bytes, " + std::to_string(room) + " are left");
  const Bytes entry = bytes.subspan(start, room);
  const auto version = read<std::uint16_t>(entry, at::kVersion);
  if (version != kEntryVersion)
    return error_at(start + at::kVersion,
                    "image header version " + hex(version) + ", known is 0x101");
  const auto header = read<std::uint32_t>(entry, at::kHeaderSize);
  if (header < kEntryHeader || header > room)
    return error_at(start + at::kHeaderSize,
                    "image header of " + std::to_string(header) + " bytes");
  const auto stored_size = read<std::uint64_t>(entry, at::kStoredSize);
  if (stored_size > room - header)
    return error_at(start + at::kStoredSize, "an image of " + std::to_string(stored_size) +
                                                 " bytes where " + std::to_string(room - header) +
                                                 " are left");

  Image image;
  image.kind = static_cast<Kind>(read<std::uint16_t>(entry, at::kKind));
  image.arch = static_cast<int>(read<std::uint32_t>(entry, at::kArch));
  image.ptx_major = read<std::uint16_t>(entry, at::kPtxMajor);
  image.ptx_minor = read<std::uint16_t>(entry, at::kPtxMinor);
  const auto flags = read<std::uint64_t>(entry, at::kFlags);
  image.debug = (flags & kDebug) != 0;
  image.suffix = (flags & kThisArchitecture) != 0 ? 'a' : (flags & kFamily) != 0 ? 'f' : 0;

  const auto name_length = read<std::uint32_t>(entry, at::kNameLength);
  if (name_length != 0) {
    const auto name =
        header_text(entry, header, read<std::uint32_t>(entry, at::kName), name_length);
    if (!name) return error_at(start + at::kName, "the image's name lies outside its header");
    image.name = *name;
  }
  if (const auto block = read<std::uint32_t>(entry, at::kOptionBlock); block != 0) {
    if (block > header || header - block < 8)
      return error_at(start + at::kOptionBlock, "the image's options lie outside its header");
    const auto options = header_text(entry, header, read<std::uint32_t>(entry, block),
                                     read<std::uint32_t>(entry, block + 4));
    if (!options) return error_at(start + block, "the image's options lie outside its header");
    image.options = *options;
  }

  const Bytes stored = entry.subspan(header, stored_size);
  if (image.kind != Kind::kPtx) {
    image.data.assign(stored.begin(), stored.end());
  } else if ((flags & (kLz4 | kZstd)) == 0) {
    image.data.assign(stored.begin(), stored.end());
  } else {
    const auto compressed = read<std::uint32_t>(entry, at::kCompressedSize);
    if (compressed > stored_size)
      return error_at(start + at::kCompressedSize,
                      "compressed text of " + std::to_string(compressed) +
                          " bytes in an image of " + std::to_string(stored_size));
    std::string why;
    image.data =
        decompress(stored.first(compressed), flags, read<std::uint64_t>(entry, at::kRawSize), why);
    if (!why.empty()) return error_at(start + header, "the PTX cannot be decompressed: " + why);
  }
  if (image.kind == Kind::kPtx) {  // padded with NUL to a multiple of eight
    while (!image.data.empty() && image.data.back() == 0) image.data.pop_back();
  }
  next = start + header + stored_size;
  return image;
}

std::string architecture(const Image& image) {
  return std::to_string(image.arch) +
         (image.suffix != 0 ? std::string(1, image.suffix) : std::string());
}

bool can_run(const Image& image, int capability) {
  switch (image.suffix) {
    case 'a': return image.arch == capability;
    case 'f':
      return image.arch <= capability &&
             image.arch / 10 == capability / 10;  // a family is a major version
    default: return image.arch <= capability;
  }
}

}  // namespace

std::variant<std::vector<Image>, Error> read_container(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kContainerHeader)
    return error_at(
        0, "a container header needs 16 bytes, " + std::to_string(bytes.size()) + " are there");
  if (const auto magic = read<std::uint32_t>(bytes, 0); magic != kMagic)
    return error_at(
        0, "no container: it would begin with " + hex(kMagic) + ", this begins with " + hex(magic));
  if (const auto version = read<std::uint16_t>(bytes, 4); version != kContainerVersion)
    return error_at(4, "container version " + std::to_string(version) + ", known is 1");
  const auto header = read<std::uint16_t>(bytes, 6);
  if (header < kContainerHeader || header > bytes.size())
    return error_at(6, "container header of " + std::to_string(header) + " bytes");
  const auto body = read<std::uint64_t>(bytes, 8);
  if (body > bytes.size() - header)
    return error_at(8, "a container of " + std::to_string(body) + " bytes where " +
                           std::to_string(bytes.size() - header) + " are left");

  std::vector<Image> images;
  const std::size_t end = header + static_cast<std::size_t>(body);
  for (std::size_t start = header; start < end;) {
    std::size_t next = end;
    auto entry = read_entry(bytes, start, end, next);
    if (auto* error = std::get_if<Error>(&entry)) return std::move(*error);
    images.push_back(std::get<Image>(std::move(entry)));
    start = next;
  }
  return images;
}

const Image* choose_ptx(const std::vector<Image>& images, int compute_capability) {
  const Image* best = nullptr;
  auto rank = [](const Image& i) {
    return std::int64_t{i.arch} * 4 + (i.suffix == 'a' ? 2 : i.suffix == 'f' ? 1 : 0);
  };
  for (const Image& image : images) {
    if (image.kind != Kind::kPtx || !can_run(image, compute_capability)) continue;
    if (best == nullptr || rank(image) > rank(*best)) best = &image;
  }
  return best;
}

bool is_device_runtime(const std::vector<Image>& images) {
  constexpr std::string_view kLaunches =
      "__cudaCDP2LaunchDeviceV2";  // what nvcc makes of <<<>>> in a kernel
  return std::any_of(images.begin(), images.end(), [&](const Image& image) {
    if (image.kind != Kind::kPtx) return false;
    const std::string_view text(reinterpret_cast<const char*>(image.data.data()),
                                image.data.size());
    const std::size_t at = text.find(kLaunches);
    return at != text.npos && text.find(".extern", text.rfind('\n', at) + 1) > at;  // defines it
  });
}

bool has_functions(const Image& elf) {
  // A function has its own section, ".text." with its name.
  const std::string_view bytes(reinterpret_cast<const char*>(elf.data.data()), elf.data.size());
  return bytes.find(".text.") != bytes.npos;
}

std::string explain_no_ptx(const std::vector<Image>& images, int compute_capability) {
  std::string machine_code, ptx;
  bool lto = false;
  std::set<std::string> named;
  for (const Image& image : images) {
    lto |= image.kind == Kind::kLtoIr;
    if (image.kind == Kind::kLtoIr ||
        !named.insert((image.kind == Kind::kElf ? "sm_" : "compute_") + architecture(image)).second)
      continue;
    if (image.kind == Kind::kElf)
      machine_code += (machine_code.empty() ? "sm_" : ", sm_") + architecture(image);
    if (image.kind == Kind::kPtx)
      ptx += (ptx.empty() ? "compute_" : ", compute_") + architecture(image);
  }
  const std::string device = "sm_" + std::to_string(compute_capability);
  const std::string number = std::to_string(compute_capability);
  const std::string flag = "-gencode arch=compute_" + number + ",code=compute_" + number;
  if (!ptx.empty())
    return "the program holds PTX for " + ptx + " only, which a device of " + device +
           " cannot run; compile with " + flag + " as well, or simulate another device (--device)";
  if (!machine_code.empty())
    return "the program holds machine code (" + machine_code + ") but no PTX to simulate; add " +
           flag + " to nvcc's command line";
  if (lto)
    return "the program holds link-time intermediate code but no PTX to simulate; compile without "
           "-dlto and with " +
           flag;
  return "the program holds no device code; compile it with nvcc and " + flag;
}

}  // namespace lockstep::fatbin
