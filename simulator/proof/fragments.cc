#include "simulator/proof/fragments.h"

#include <algorithm>

#include "simulator/program/matrix.h"

namespace lockstep::proof {

using program::Action;
using program::kWarpSize;

namespace {

// The distance of lines in elements, if it is the same for all threads.
std::optional<std::uint64_t> stride_of(const program::Op& op, const program::Matrix& m,
                                       std::uint32_t pc, Values& values) {
  if (op.src[1] == program::kNoSlot) return m.natural_stride;
  const auto form = values.source(op.src[1], pc, 32);
  if (!form || !form->known() || !form->uniform()) return std::nullopt;
  return static_cast<std::uint32_t>(form->base[0]);
}

// How far element `n` of each thread's lane is from the matrix's address, in bytes.
Form distance(const program::Matrix& m, std::uint64_t stride, int n, std::size_t threads) {
  Form form{64, {}, {}};
  for (std::size_t t = 0; t < threads; ++t) {
    const auto e = static_cast<std::size_t>(static_cast<int>(t % kWarpSize) * m.d.elements() + n);
    const std::uint64_t index = m.lines[e] * stride + m.places_in_line[e];
    form.base.push_back(
        static_cast<std::int64_t>(index * static_cast<std::uint64_t>(m.d.bits) / 8));
  }
  return form;
}

}  // namespace

bool is_global_fragment(const program::Op& op) {
  return (op.action == Action::kLoadFragment || op.action == Action::kStoreFragment) &&
         static_cast<isa::Space>(op.space) == isa::Space::kGlobal;
}

std::vector<Place> places_of_fragment(const program::Program& program, const program::Op& op,
                                      const Access& common, Values& values) {
  const program::Matrix& m = program.matrices[static_cast<std::size_t>(op.immediate)];
  Place whole{common, std::nullopt};
  whole.access.size = op.width;
  const auto stride = stride_of(op, m, common.pc, values);
  if (stride && !m.address.narrow) whole.address = values.source(m.address.slot, common.pc, 64);
  if (!whole.address) return {whole};
  // Elements smaller than a byte fill a register, which is accessed at once.
  const int step = m.d.bits < 8 ? 32 / m.d.bits : 1;
  std::vector<Place> places;
  for (int n = 0; n < m.d.elements(); n += step) {
    Place place = whole;
    place.address = combined(combined(*whole.address, 1, constant(m.address.offset, 64), 1, 64), 1,
                             distance(m, *stride, n, values.threads()), 1, 64);
    places.push_back(std::move(place));
  }
  return places;
}

void include(Access& a, const Access& more) {
  a.size += more.size;
  a.in_bounds &= more.in_bounds;
  a.aligned &= more.aligned;
  a.apart_unless_read = (a.apart || a.apart_unless_read) && (more.apart || more.apart_unless_read);
  a.apart &= more.apart;
  a.apart_unless_read &= !a.apart;
  a.stored_before &= more.stored_before;
  a.known &= more.known;
  a.bytes = a.in_bounds ? Extent{std::min(a.bytes.begin, more.bytes.begin),
                                 std::max(a.bytes.end, more.bytes.end)}
                        : Extent{};
}

}  // namespace lockstep::proof
