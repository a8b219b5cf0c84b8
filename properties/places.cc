// Batteries for the places of arrays: at the addresses of another call, and in pieces far apart.
#include <algorithm>
#include <exception>
#include <set>
#include <thread>

#include "harness/device/device.h"
#include "harness/device/far_array.h"
#include "harness/property/compare.h"
#include "properties/batteries.h"
#include "properties/streams.h"

namespace lockstep::properties {
namespace {

// ---- The same addresses for several calls.

// Arrays for several calls of one launcher, large enough for each.
class CommonPlaces {
 public:
  CommonPlaces(const Contract& one, const Contract& other) {
    for (std::size_t i = 0; i < one.arrays().size(); ++i) {
      const ArrayArgument& array = one.arrays()[i];
      const std::size_t bytes =
          std::max(array.held->bytes().size(), other.arrays()[i].held->bytes().size());
      places_.push_back(DeviceArray<std::uint8_t>::in_out(array.name, Bytes8(bytes), Layout{}));
    }
  }

  // Launches the call on these arrays, with the contents of its own, and returns the results.
  Results run(const BoundCall& call, const Stream& stream, const char* when) {
    const std::vector<ArrayArgument>& arrays = call.contract->arrays();
    const auto restore = call.keep();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const ArrayArgument& array = arrays[i];
      if (array.held->on_host()) continue;
      const Bytes contents = array.held->bytes();
      if (!contents.empty()) {
        REQUIRE_CUDA(cudaMemcpy(places_[i].data(), contents.data(), contents.size(),
                                cudaMemcpyHostToDevice));
        REQUIRE_CUDA(static_cast<cudaError_t>(wait_for_copies()));
      }
      array.set(reinterpret_cast<std::uintptr_t>(places_[i].data()) +
                array.footprint.before * array.element_bytes);
    }
    for (const Variable& variable : call.variables) variable.write(variable.contents());
    const std::string what = call.contract->launcher() + ", " + when;
    const Answer answer = call.launch(stream);
    restore();
    lockstep::detail::require_success({__FILE__, __LINE__, what.c_str()}, answer);
    stream.synchronise();
    Results results;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].role == Role::kInput) continue;
      Bytes bytes = arrays[i].held->bytes();
      if (!arrays[i].held->on_host()) {
        const std::vector<std::uint8_t> now = places_[i].fetch();
        std::memcpy(bytes.data(), now.data(), bytes.size());
      }
      results.push_back({arrays[i].name, arrays[i].element_bytes, std::move(bytes)});
    }
    for (const Variable& variable : call.variables)
      results.push_back({variable.name, 1, variable.read()});
    return results;
  }

 private:
  using Bytes8 = std::vector<std::uint8_t>;
  std::vector<DeviceArray<std::uint8_t>> places_;
};

// ---- Pieces far apart.

constexpr std::size_t kMostPieces = 128;
constexpr std::size_t kValuesTried = 2;

// Whether the pieces of a value extend far, and not too far.
bool reach_far(const std::vector<Piece>& pieces, std::int64_t element_bytes) {
  const auto widest = static_cast<std::int64_t>(FarArray::widest());
  std::int64_t end = 0;
  for (const Piece& piece : pieces) {
    if (piece.to >= widest) return false;
    end = std::max(end, (piece.to + piece.count) * element_bytes);
  }
  return end > std::int64_t{1} << 31 && end <= widest && pieces.size() <= kMostPieces;
}

// Values with which the array's end, or one step, exceeds 31 and 32 bits: multiples of 2^32, and
// others. The seed determines their order.
std::vector<std::int64_t> far_values(const Spread& spread, std::size_t pieces, std::uint64_t seed) {
  constexpr Whole kBit = 1;
  std::set<Whole> values;
  const auto add = [&](Whole value) {
    const Whole steps =
        (std::max(value, spread.legal.least) - spread.legal.least + spread.legal.step - 1);
    const Whole legal = spread.legal.least + steps / spread.legal.step * spread.legal.step;
    if (spread.legal.contains(legal)) values.insert(legal);
    if (spread.legal.contains(value)) values.insert(value);
  };
  for (const int bits : {31, 32, 33, 34, 35, 36, 37}) {
    for (const Whole more : {0, 1, 5}) {
      add((kBit << bits) + more * spread.legal.step);
      if (pieces > 2)
        add((kBit << bits) / static_cast<Whole>(pieces - 1) + more * spread.legal.step);
    }
  }
  std::vector<std::int64_t> shuffled(values.begin(), values.end());
  Bits bits(seed);
  for (std::size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[bits.below(i)]);
  return shuffled;
}

// An array of a call, in pieces.
class InPieces {
 public:
  InPieces(const ArrayArgument& array, const std::vector<Piece>& pieces)
      : array_(array),
        pieces_(pieces),
        first_(array.held->bytes()),
        far_(array.name, parts(), array.get() % 256) {
    for (const Piece& piece : pieces_) {
      far_.write(to(piece), bytes_of(first_, piece), size(piece));
      if (array_.role == Role::kOutput) far_.mark_unwritten(to(piece), size(piece));
    }
    array_.set(reinterpret_cast<std::uintptr_t>(far_.data()));
  }

  // The array's bytes in the case's layout: `around` with the pieces in it.
  Bytes together(Bytes around) const {
    for (const Piece& piece : pieces_)
      far_.read(to(piece), reinterpret_cast<unsigned char*>(around.data()) + from(piece),
                size(piece));
    return around;
  }
  const Bytes& first() const { return first_; }

 private:
  std::uint64_t to(const Piece& piece) const {
    return static_cast<std::uint64_t>(piece.to) * array_.element_bytes;
  }
  std::size_t from(const Piece& piece) const {
    return static_cast<std::size_t>(piece.first) * array_.element_bytes;
  }
  std::size_t size(const Piece& piece) const {
    return static_cast<std::size_t>(piece.count) * array_.element_bytes;
  }
  const unsigned char* bytes_of(const Bytes& all, const Piece& piece) const {
    return reinterpret_cast<const unsigned char*>(all.data()) + from(piece);
  }
  std::vector<FarArray::Part> parts() const {
    std::vector<FarArray::Part> all;
    for (const Piece& piece : pieces_) all.push_back({to(piece), size(piece)});
    return all;
  }

  const ArrayArgument& array_;
  const std::vector<Piece>& pieces_;
  const Bytes first_;
  FarArray far_;
};

// Another host thread makes its call between each two CUDA calls of `one`. On silicon it makes the
// call alone.
void require_room_for_threads(const BoundCall& one, const Results& first, CommonPlaces& places,
                              const BoundCall& fresh, const Results& expected, CommonPlaces& own) {
  const auto may_meet = [](const BoundCall& call) {
    return call.takes_stream && call.variables.empty() && !call.contract->is_ordered_by_callers();
  };
  if (!may_meet(one) || !may_meet(fresh)) return;
  const Stream stream, second;
  for (std::size_t at = 0, calls = 1; at < calls; ++at) {
    const std::string when =
        fmt::format("with another call by another host thread before its call {} of CUDA", at + 1);
    Results meanwhile;
    const auto meet = [&] {
      std::exception_ptr thrown;
      std::thread([&] {
        try {
          meanwhile = own.run(fresh, second, "called while another host thread makes a call");
        } catch (...) {
          thrown = std::current_exception();
        }
      }).join();
      if (thrown != nullptr) std::rethrow_exception(thrown);
    };
    BoundCall met = one;
    met.launch = [&](cudaStream_t on) {
      Answer answer;
      run_between_calls(
          [&](std::size_t call) {
            calls = std::max(calls, call + 1);
            if (call == at) meet();
          },
          [&] { answer = one.launch(on); });
      return answer;
    };
    const Results results = places.run(met, stream, when.c_str());
    require_same(one.contract->launcher(), results, first, when.c_str());
    if (!meanwhile.empty())
      require_same(one.contract->launcher(), meanwhile, expected,
                   "called while another host thread makes a call");
  }
}

}  // namespace

void require_no_state_of_arguments(const BoundCall& one, const BoundCall& other,
                                   const BoundCall& fresh, bool meet) {
  for (const BoundCall* const call : {&one, &other, &fresh}) call->contract->allocate();
  if (one.contract->arrays().size() != other.contract->arrays().size()) return;
  const Stream stream;
  const std::string name = one.contract->launcher();
  CommonPlaces places(*one.contract, *other.contract), own(*fresh.contract, *fresh.contract);
  const Results expected = own.run(fresh, stream, "launched"),
                first = places.run(one, stream, "launched");
  require_same(name, places.run(other, stream, "with other arguments"), expected,
               "on the same arrays with other arguments");
  require_same(name, places.run(one, stream, "launched again"), first,
               "on the same arrays, after a call there with other arguments");
  if (meet) require_room_for_threads(one, first, places, fresh, expected, own);
}

void require_far_pieces(Trial& trial, std::uint64_t seed) {
  const Contract& contract = *trial.call().contract;
  if (contract.spreads().empty()) return;
  const Stream stream;
  const Results expected = trial.run(Contents::kFirst, stream, "launched");
  const auto restore = trial.call().keep();
  for (const Spread& spread : contract.spreads()) {
    const auto array = std::ranges::find(contract.arrays(), spread.array, &ArrayArgument::name);
    const std::size_t usual = spread.place(static_cast<std::int64_t>(spread.legal.least)).size();
    restore();
    std::size_t tried = 0;
    for (const std::int64_t value : far_values(spread, usual, seed)) {
      if (tried == kValuesTried) break;
      trial.set(Contents::kFirst, stream);
      const std::vector<Piece> pieces = spread.place(value);
      if (!reach_far(pieces, static_cast<std::int64_t>(array->element_bytes))) {
        restore();
        continue;
      }
      ++tried;
      const std::string when = fmt::format("with {}:{}", spread.name, value);
      const InPieces far(*array, pieces);
      trial.launch(stream, when.c_str());
      restore();
      Results results = trial.results();
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].name == spread.array) results[i].bytes = far.together(expected[i].bytes);
      }
      require_same(trial.name(), results, expected, when.c_str());
      if (array->role == Role::kInput && far.together(far.first()) != far.first())
        fail_case({Reason::kInputChanged, "",
                   fmt::format("{}, {}: '{}' was changed", trial.name(), when, array->name)});
    }
  }
}

}  // namespace lockstep::properties
