// Containers built by hand, in which each field can be damaged, and containers made by nvcc.
#include "simulator/fatbin/fatbin.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <fstream>
#include <iterator>
#include <string>

namespace lockstep::fatbin {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t k64Bit = 0x11, kDebug = 0x2, kLz4 = 0x2000, kZstd = 0x8000;

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

struct EntrySpec {
  int kind = 1;
  int arch = 90;
  std::uint64_t flags = k64Bit;
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  std::string name, options;
};

Bytes compress(const std::string& text, std::uint64_t flags) {
  if (flags & kZstd) {
    Bytes out(ZSTD_compressBound(text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
  }
  if (flags & kLz4) {
    Bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    out.resize(static_cast<std::size_t>(
        LZ4_compress_default(text.data(), reinterpret_cast<char*>(out.data()),
                             static_cast<int>(text.size()), static_cast<int>(out.size()))));
    return out;
  }
  return Bytes(text.begin(), text.end());
}

Bytes entry(const EntrySpec& spec) {
  Bytes extra;  // behind the fixed 64 bytes: name, option block
  std::uint32_t name_at = 0, options_at = 0;
  if (!spec.name.empty()) {
    name_at = 64;
    extra.insert(extra.end(), spec.name.begin(), spec.name.end());
    while (extra.size() % 8) extra.push_back(0);
  }
  if (!spec.options.empty()) {
    options_at = static_cast<std::uint32_t>(64 + extra.size());
    put(extra, options_at + 8, 4);
    put(extra, spec.options.size(), 4);
    extra.insert(extra.end(), spec.options.begin(), spec.options.end());
    while (extra.size() % 8) extra.push_back(0);
  }
  Bytes data = compress(spec.text, spec.flags);
  const bool packed = (spec.flags & (kZstd | kLz4)) != 0;
  const std::size_t packed_size = data.size();
  while (data.size() % 8) data.push_back(0);
  Bytes out;
  put(out, static_cast<std::uint64_t>(spec.kind), 2);
  put(out, 0x0101, 2);
  put(out, 64 + extra.size(), 4);
  put(out, data.size(), 8);
  put(out, packed ? packed_size : 0, 4);
  put(out, options_at, 4);
  put(out, 0, 2);  // minor
  put(out, 9, 2);  // major
  put(out, static_cast<std::uint64_t>(spec.arch), 4);
  put(out, name_at, 4);
  put(out, spec.name.size(), 4);
  put(out, spec.flags, 8);
  put(out, 0, 8);
  put(out, packed ? spec.text.size() : 0, 8);
  out.insert(out.end(), extra.begin(), extra.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Bytes container(const std::vector<EntrySpec>& specs) {
  Bytes body;
  for (const auto& s : specs) {
    const Bytes e = entry(s);
    body.insert(body.end(), e.begin(), e.end());
  }
  Bytes out;
  put(out, 0xBA55ED50, 4);
  put(out, 1, 2);
  put(out, 16, 2);
  put(out, body.size(), 8);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

std::vector<Image> images_of(const Bytes& bytes) {
  auto result = read_container(bytes);
  if (const auto* e = std::get_if<Error>(&result)) {
    ADD_FAILURE() << e->message;
    return {};
  }
  return std::get<std::vector<Image>>(std::move(result));
}

std::string error_of(const Bytes& bytes) {
  auto result = read_container(bytes);
  const auto* e = std::get_if<Error>(&result);
  return e ? e->message : "accepted";
}

std::string text_of(const Image& i) { return std::string(i.data.begin(), i.data.end()); }

class Encoding : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(All, Encoding, testing::Values(0, kLz4, kZstd));

TEST_P(Encoding, TextComesBackWithAllItsFields) {
  EntrySpec spec;
  spec.flags |= GetParam() | kDebug;
  spec.name = "a.cu";
  spec.options = " --generate-line-info ";
  for (int i = 0; i < 500; ++i) spec.text += "// line " + std::to_string(i % 7) + "\n";
  const auto images = images_of(container({spec}));
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].kind, Kind::kPtx);
  EXPECT_EQ(images[0].arch, 90);
  EXPECT_EQ(images[0].suffix, 0);
  EXPECT_EQ(images[0].ptx_major, 9);
  EXPECT_EQ(images[0].ptx_minor, 0);
  EXPECT_TRUE(images[0].debug);
  EXPECT_EQ(images[0].name, "a.cu");
  EXPECT_EQ(images[0].options, "--generate-line-info");
  EXPECT_EQ(text_of(images[0]), spec.text);
}

TEST_P(Encoding, EveryTruncationIsAnErrorThatNamesAnOffset) {
  EntrySpec spec;
  spec.flags |= GetParam();
  spec.options = "-g";
  const Bytes whole = container({spec, spec});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string error =
        error_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    EXPECT_NE(error.find("offset 0x"), std::string::npos) << n << " bytes: " << error;
  }
  EXPECT_EQ(images_of(whole).size(), 2u);
}

// Shortens the container's own length too, so that entries are cut, not the file.
TEST_P(Encoding, EveryTruncationOfTheBodyIsAnError) {
  EntrySpec spec;
  spec.flags |= GetParam();
  const Bytes whole = container({spec});
  for (std::size_t n = 17; n < whole.size(); ++n) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    for (int i = 0; i < 8; ++i)
      cut[8 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((n - 16) >> (8 * i));
    EXPECT_NE(error_of(cut).find("offset 0x"), std::string::npos) << n;
  }
}

// Changing any byte results in images or an error, never in a crash or an out-of-bounds read (which
// a sanitizer detects).
TEST_P(Encoding, EveryDamagedByteIsSurvived) {
  EntrySpec spec;
  spec.flags |= GetParam();
  spec.name = "n";
  spec.options = "-g";
  const Bytes whole = container({spec});
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      Bytes damaged = whole;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ change);
      refused += std::holds_alternative<Error>(read_container(damaged));
    }
  }
  EXPECT_GT(refused, 30);
}

TEST(Container, BytesBehindItAreIgnored) {
  Bytes bytes = container({EntrySpec{}});
  bytes.insert(bytes.end(), 100, 0xab);
  EXPECT_EQ(images_of(bytes).size(), 1u);
}

TEST(Container, WithoutEntriesIsEmpty) { EXPECT_TRUE(images_of(container({})).empty()); }

TEST(Container, WrongMagicIsNamed) {
  Bytes bytes = container({EntrySpec{}});
  bytes[0] = 0;
  EXPECT_EQ(error_of(bytes),
            "fatbin, offset 0x0: no container: it would begin with 0xba55ed50, this begins with "
            "0xba55ed00");
}

TEST(Container, UnknownVersionsAreRefused) {
  Bytes bytes = container({EntrySpec{}});
  bytes[4] = 2;
  EXPECT_EQ(error_of(bytes), "fatbin, offset 0x4: container version 2, known is 1");
  bytes = container({EntrySpec{}});
  bytes[16 + 2] = 2;
  EXPECT_EQ(error_of(bytes), "fatbin, offset 0x12: image header version 0x102, known is 0x101");
}

TEST(Container, ASizeThatTheTextDoesNotHaveIsRefused) {
  for (const std::uint64_t flags : {kLz4, kZstd}) {
    EntrySpec spec;
    spec.flags |= flags;
    for (const int delta : {-1, 1}) {
      Bytes bytes = container({spec});
      bytes[16 + 56] = static_cast<std::uint8_t>(bytes[16 + 56] + delta);
      EXPECT_NE(error_of(bytes).find("cannot be decompressed"), std::string::npos)
          << error_of(bytes);
    }
    Bytes bytes = container({spec});
    bytes[16 + 56 + 5] = 1;  // a terabyte
    EXPECT_NE(error_of(bytes).find("a decompressed size of"), std::string::npos) << error_of(bytes);
    bytes = container({spec});
    bytes[16 + 56 + 3] = 16;  // a quarter of a gigabyte, which must not be allocated
    EXPECT_NE(error_of(bytes).find("that are stored can hold"), std::string::npos)
        << error_of(bytes);
  }
}

TEST(Container, OtherKindsKeepTheirBytes) {
  EntrySpec elf;
  elf.kind = 2;
  elf.text = std::string(
      "\x7f"
      "ELF\0\0\0\0",
      8);
  EntrySpec packed = elf;
  packed.flags |= kZstd;
  const auto images = images_of(container({elf, EntrySpec{}, packed}));
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].kind, Kind::kElf);
  EXPECT_EQ(text_of(images[0]), elf.text);
  EXPECT_EQ(images[1].kind, Kind::kPtx);
  EXPECT_EQ(images[2].kind, Kind::kElf);
}

Image ptx(int arch, char suffix = 0) {
  Image i;
  i.arch = arch;
  i.suffix = suffix;
  return i;
}

int chosen(const std::vector<Image>& images, int capability) {
  const Image* i = choose_ptx(images, capability);
  return i ? i->arch * 1000 + i->suffix : 0;
}

TEST(ChoosePtx, TakesTheHighestThatTheDeviceRuns) {
  const std::vector<Image> images{ptx(75), ptx(90), ptx(80), ptx(100)};
  EXPECT_EQ(chosen(images, 75), 75000);
  EXPECT_EQ(chosen(images, 89), 80000);
  EXPECT_EQ(chosen(images, 90), 90000);
  EXPECT_EQ(chosen(images, 120), 100000);
  EXPECT_EQ(chosen(images, 70), 0);
  EXPECT_EQ(chosen({}, 90), 0);
}

TEST(ChoosePtx, ArchitectureSpecificOnlyOnExactlyThat) {
  const std::vector<Image> images{ptx(80), ptx(90, 'a')};
  EXPECT_EQ(chosen(images, 90), 90000 + 'a');
  EXPECT_EQ(chosen(images, 100), 80000);
  EXPECT_EQ(chosen({ptx(90), ptx(90, 'a')}, 90), 90000 + 'a');
}

TEST(ChoosePtx, FamilySpecificOnlyWithinTheFamily) {
  const std::vector<Image> images{ptx(90), ptx(100, 'f')};
  EXPECT_EQ(chosen(images, 100), 100000 + 'f');
  EXPECT_EQ(chosen(images, 103), 100000 + 'f');
  EXPECT_EQ(chosen(images, 120), 90000);
  EXPECT_EQ(chosen(images, 90), 90000);
}

TEST(ChoosePtx, NeverMachineCode) {
  Image elf = ptx(90);
  elf.kind = Kind::kElf;
  EXPECT_EQ(chosen({elf}, 90), 0);
}

TEST(MachineCode, WithoutASectionOfCodeHasNoFunctions) {
  const auto with = [](const std::string& names) {
    Image image = ptx(90);
    image.kind = Kind::kElf;
    image.data.assign(names.begin(), names.end());
    return image;
  };
  using namespace std::string_literals;
  EXPECT_TRUE(has_functions(with("\0.shstrtab\0.text._Z1kPi\0"s)));
  EXPECT_FALSE(has_functions(with("\0.shstrtab\0.symtab\0.nv.callgraph\0"s)));
  EXPECT_FALSE(has_functions(with("")));
}

TEST(DeviceRuntime, IsWhatDefinesLaunchesFromKernels) {
  const auto with = [](const std::string& text) {
    Image image = ptx(121);
    image.data.assign(text.begin(), text.end());
    return std::vector<Image>{image};
  };
  EXPECT_TRUE(is_device_runtime(with(
      ".version 9.0\n.visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(\n.param .b64 p)\n")));
  EXPECT_FALSE(is_device_runtime(with(
      ".version 9.0\n.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2\n(.param .b64 p);\n")))
      << "a program that calls it";
  EXPECT_FALSE(is_device_runtime(with(".version 9.0\n")));
  EXPECT_FALSE(is_device_runtime({}));
}

TEST(ExplainNoPtx, NamesTheFlagToAdd) {
  Image elf = ptx(90);
  elf.kind = Kind::kElf;
  EXPECT_EQ(explain_no_ptx({elf}, 90),
            "the program holds machine code (sm_90) but no PTX to simulate; add -gencode "
            "arch=compute_90,code=compute_90 to nvcc's command line");
  EXPECT_EQ(explain_no_ptx({ptx(100)}, 90),
            "the program holds PTX for compute_100 only, which a device of sm_90 cannot run; "
            "compile with -gencode arch=compute_90,code=compute_90 as well, or simulate another "
            "device (--device)");
  EXPECT_NE(explain_no_ptx({elf, elf}, 90).find("machine code (sm_90) but"), std::string::npos)
      << "each architecture is named once";
  Image lto = ptx(90);
  lto.kind = Kind::kLtoIr;
  EXPECT_NE(explain_no_ptx({lto}, 90).find("without -dlto"), std::string::npos);
  EXPECT_NE(explain_no_ptx({}, 80).find("compute_80"), std::string::npos);
}

// ---- nvcc's own ---------------------------------------------------------------------------------

Bytes file(const std::string& name) {
  std::ifstream in("simulator/fatbin/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return Bytes((std::istreambuf_iterator<char>(in)), {});
}

class OfNvcc : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(CompressModes, OfNvcc, testing::Values("none", "speed", "default"));

TEST_P(OfNvcc, EveryPtxImageReads) {
  const auto images = images_of(file(std::string("sample_") + GetParam() + ".fatbin"));
  ASSERT_EQ(images.size(), 4u);  // PTX for 75, 90a and 100f, machine code for 90
  int texts = 0;
  for (const Image& i : images) {
    if (i.kind != Kind::kPtx) continue;
    ++texts;
    const std::string suffix = i.suffix ? std::string(1, i.suffix) : "";
    EXPECT_NE(text_of(i).find(".target sm_" + std::to_string(i.arch) + suffix), std::string::npos);
    EXPECT_NE(text_of(i).find(".visible .entry sample"), std::string::npos);
    EXPECT_EQ(text_of(i).find('\0'), std::string::npos);
    EXPECT_EQ(i.options, "--generate-line-info");
    EXPECT_GE(i.ptx_major, 9);
  }
  EXPECT_EQ(texts, 3);
  EXPECT_EQ(chosen(images, 75), 75000);
  EXPECT_EQ(chosen(images, 90), 90000 + 'a');
  EXPECT_EQ(chosen(images, 103), 100000 + 'f');
  EXPECT_EQ(chosen(images, 120), 75000);
}

}  // namespace
}  // namespace lockstep::fatbin
