#include "simulator/vectors/recording.h"

#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace lockstep::vectors {
namespace {

constexpr char kMagic[] = "lockstep instruction vectors 1\n";
constexpr std::uint64_t kMax = 256u << 20;  // uncompressed bytes, far more than any recording has

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

// Reads forward; throws at the end of the data.
class Reader {
 public:
  Reader(const std::string& data, const std::string& path) : data_(data), path_(path) {}
  bool done() const { return at_ == data_.size(); }
  std::string take(std::size_t n) {
    if (data_.size() - at_ < n) throw std::runtime_error(path_ + ": ends in the middle of a form");
    at_ += n;
    return data_.substr(at_ - n, n);
  }
  std::string line() {
    const std::size_t end = data_.find('\n', at_);
    if (end == std::string::npos)
      throw std::runtime_error(path_ + ": ends in the middle of a line");
    std::string s = take(end - at_);
    ++at_;
    return s;
  }
  template <class T>
  T number() {
    T v;
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
    return v;
  }

 private:
  const std::string& data_;
  const std::string& path_;
  std::size_t at_ = 0;
};

}  // namespace

void write_recording(const std::string& path, const Recording& recording) {
  std::string data = kMagic + recording.device + "\n";
  for (const auto& [name, form] : recording.forms) {
    data += name + "\n";
    put(data, form.inputs);
    put(data, static_cast<std::uint32_t>(form.results.size()));
    data.append(form.results.begin(), form.results.end());
  }
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 19);
  ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 26);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(data.size()), '\0');
  const std::size_t n =
      ZSTD_compress2(context, packed.data(), packed.size(), data.data(), data.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(n)) throw std::runtime_error(path + ": " + ZSTD_getErrorName(n));
  std::ofstream out(path, std::ios::binary);
  out.write(packed.data(), static_cast<std::streamsize>(n));
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

Recording read_recording(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  const std::string packed((std::istreambuf_iterator<char>(in)), {});
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMax)
    throw std::runtime_error(path + ": is no recording");
  std::string data(size, '\0');
  const std::size_t n = ZSTD_decompress(data.data(), data.size(), packed.data(), packed.size());
  if (ZSTD_isError(n) || n != size) throw std::runtime_error(path + ": is damaged");
  if (data.rfind(kMagic, 0) != 0) throw std::runtime_error(path + ": is of another version");
  Reader reader(data, path);
  reader.line();
  Recording recording;
  recording.device = reader.line();
  while (!reader.done()) {
    const std::string name = reader.line();
    RecordedForm& form = recording.forms[name];
    form.inputs = reader.number<std::uint64_t>();
    const std::string results = reader.take(reader.number<std::uint32_t>());
    form.results.assign(results.begin(), results.end());
  }
  return recording;
}

}  // namespace lockstep::vectors
