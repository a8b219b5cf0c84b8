// Records without padding, read at any alignment; bit fields; one function that works on shared,
// local and global memory.
#include "program.h"

namespace packed_records {

struct __attribute__((packed)) Record {
  unsigned char tag;
  double value;
  unsigned short id;
};
static_assert(sizeof(Record) == 11, "packed");

struct Flags {
  unsigned valid : 1, level : 5;
  int offset : 10;
  unsigned rest : 16;
};

__device__ __noinline__ void reverse(unsigned char* bytes, int n) {
  for (int i = 0; i < n / 2; ++i) {
    const unsigned char t = bytes[i];
    bytes[i] = bytes[n - 1 - i], bytes[n - 1 - i] = t;
  }
}

__global__ void convert(const Record* in, int n, double* values, Flags* flags, Record* turned,
                        int mistake) {
  __shared__ Record shared[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mistake == 1) {
    values[i] = *reinterpret_cast<const double*>(reinterpret_cast<const char*>(in + i) + 1);
  } else {
    memcpy(&values[i], reinterpret_cast<const char*>(in + i) + 1, sizeof(double));
  }
  Flags f;
  f.rest = 0;
  f.valid = in[i].tag != 0, f.level = in[i].tag & 31, f.offset = in[i].id - 500;
  flags[i] = f;
  shared[threadIdx.x] = in[i];
  Record local = shared[threadIdx.x];
  reverse(reinterpret_cast<unsigned char*>(&shared[threadIdx.x]), sizeof(Record) + (mistake == 2));
  reverse(reinterpret_cast<unsigned char*>(&local), sizeof(Record));
  turned[i] = i % 2 ? local : shared[threadIdx.x];
  reverse(reinterpret_cast<unsigned char*>(&turned[i]), 3);
}

PROGRAM(packed_records, 2) {
  const int n = 77;
  std::vector<Record> records(n);
  Random random(122);
  for (Record& r : records)
    r = {static_cast<unsigned char>(random.below(3) ? random.below(256) : 0),
         random.unit() * 1e10 - 5e9, static_cast<unsigned short>(random.below(1000))};
  Buffer<Record> in(records), turned(n);
  Buffer<double> values(n);
  Buffer<Flags> flags(n);
  convert<<<divide_up(n, 32), 32>>>(in, n, values, flags, turned, mistake);
  const std::vector<double> v = values.host();
  const std::vector<Flags> f = flags.host();
  const std::vector<Record> t = turned.host();
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const Record r = records[i];
    wrong += v[i] != r.value || f[i].valid != (r.tag != 0) || f[i].level != r.tag % 32u ||
             f[i].offset != r.id - 500 || f[i].rest != 0;
    unsigned char bytes[sizeof(Record)];
    std::memcpy(bytes, &r, sizeof r);
    std::reverse(bytes, bytes + sizeof r);
    std::swap(bytes[0], bytes[2]);
    wrong += std::memcmp(bytes, &t[i], sizeof r) != 0;
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace packed_records
