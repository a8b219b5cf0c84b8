#include "reference/transactions.h"

#include <algorithm>

namespace lockstep::reference {
namespace {

// The number of different values.
std::uint64_t distinct(Addresses v) {
  std::sort(v.begin(), v.end());
  return static_cast<std::uint64_t>(std::unique(v.begin(), v.end()) - v.begin());
}

}  // namespace

Transactions& Transactions::operator+=(const Transactions& other) {
  requests += other.requests;
  lines += other.lines;
  sectors += other.sectors;
  wanted_bytes += other.wanted_bytes;
  return *this;
}

Transactions request(const Eigen::Ref<const Addresses>& addresses, int element_bytes) {
  const auto bytes = static_cast<std::uint64_t>(element_bytes);
  eigen_assert(addresses.size() <= 32 && bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
  eigen_assert(addresses.unaryExpr([=](std::uint64_t a) { return a % bytes; }).sum() == 0);
  Transactions t;
  if (addresses.size() == 0) return t;
  t.requests = 1;
  // An aligned element of at most 16 bytes lies in one sector.
  t.lines = distinct(addresses / kLineBytes);
  t.sectors = distinct(addresses / kSectorBytes);
  t.wanted_bytes = distinct(addresses) * bytes;
  return t;
}

}  // namespace lockstep::reference
