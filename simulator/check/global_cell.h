// The cell of a granule, as a value. A granule is four bytes of global memory. Its cell stores what
// the search for races needs of the accesses to it.
//
// A cell has a half for writes and a half for reads. A half names one lane of a record
// (access_records.h), or two lanes of unordered threads, and the bytes that they accessed. A half
// is empty if its record belongs to a launch that no longer counts.
//
// Both halves describe the same bytes. If bytes of a granule are accessed separately, the cell is
// split: each byte has a cell of its own. If the halves cannot represent the accesses, the cell is
// a story (story.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep::check {

// A set of bytes of a granule. Accesses are aligned, so seven sets are enough.
class ByteSet {
 public:
  static constexpr ByteSet all() { return ByteSet(7); }
  static constexpr ByteSet none() { return ByteSet(0); }
  // `mask`: one bit for each byte. Returns none() if no aligned access has exactly these bytes.
  static constexpr ByteSet of_mask(std::uint32_t mask) {
    constexpr std::uint8_t kCodes[16] = {0, 1, 2, 5, 3, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 7};
    return ByteSet(kCodes[mask]);
  }
  constexpr std::uint32_t mask() const {
    constexpr std::uint8_t kMasks[8] = {0, 1, 2, 4, 8, 3, 12, 15};
    return kMasks[code_];
  }
  bool operator==(const ByteSet&) const = default;

 private:
  friend class CellHalf;
  constexpr explicit ByteSet(std::uint32_t code) : code_(code) {}
  std::uint32_t code_;
};

// Half of a cell: number 22 | bytes 3 | observed 1 | lane 5 | two 1.
class CellHalf {
 public:
  constexpr CellHalf() = default;
  constexpr CellHalf(std::uint32_t number, ByteSet bytes, std::uint32_t lane)
      : word_(number << kNumberShift | bytes.code_ << kBytesShift | lane << kLaneShift) {}
  static constexpr CellHalf of_word(std::uint32_t word) {
    CellHalf h;
    h.word_ = word;
    return h;
  }

  constexpr bool empty() const { return word_ == 0; }
  // number(): the number of the record. lane(): the lane of that record that the half names.
  constexpr std::uint32_t number() const { return word_ >> kNumberShift; }
  constexpr std::uint32_t lane() const { return word_ >> kLaneShift & 31; }
  constexpr ByteSet bytes() const { return ByteSet(word_ >> kBytesShift & 7); }
  // Whether the record's number is at least `first`. False for an empty half.
  constexpr bool is_since(std::uint32_t first) const { return word_ >= first << kNumberShift; }
  // Whether the half names a second, unordered thread. Then its record links to the record of that
  // thread.
  constexpr bool names_two() const { return (word_ & kTwo) != 0; }
  // For strong writes: threads that are not stored may have observed them by strong reads.
  constexpr bool may_be_observed() const { return (word_ & kObserved) != 0; }

  constexpr CellHalf naming_one() const { return of_word(word_ & ~kTwo); }
  constexpr CellHalf naming_two() const { return of_word(word_ | kTwo); }
  constexpr CellHalf observed() const { return of_word(word_ | kObserved); }
  constexpr CellHalf with_number(std::uint32_t number) const {
    return of_word((word_ & ((1u << kNumberShift) - 1)) | number << kNumberShift);
  }
  // The half of byte `byte`'s own cell when this half's cell is split.
  constexpr CellHalf of_byte(int byte) const {
    return bytes().mask() >> byte & 1 ? of_word(word_ | ByteSet::all().code_ << kBytesShift)
                                      : CellHalf();
  }
  bool operator==(const CellHalf&) const = default;

 private:
  friend class GlobalCell;
  static constexpr std::uint32_t kTwo = 1, kObserved = 1u << 6;
  static constexpr int kNumberShift = 10, kBytesShift = 7, kLaneShift = 1;
  std::uint32_t word_ = 0;
};

class GlobalCell {
 public:
  constexpr GlobalCell() = default;
  constexpr GlobalCell(CellHalf write, CellHalf read)
      : bits_(std::uint64_t{write.word_} << 32 | read.word_) {}
  // Makes a split cell or a story: number `i` among those of the pool. `first`: the first number of
  // the cell's launch (AccessRecords::first_number).
  static constexpr GlobalCell split(std::uint32_t first, std::uint32_t i) {
    return {CellHalf(first, ByteSet::none(), kSplitLane), CellHalf::of_word(i)};
  }
  static constexpr GlobalCell story(std::uint32_t first, std::uint32_t i) {
    return {CellHalf(first, ByteSet::none(), kStoryLane), CellHalf::of_word(i)};
  }

  constexpr CellHalf write() const {
    return CellHalf::of_word(static_cast<std::uint32_t>(bits_ >> 32));
  }
  constexpr CellHalf read() const { return CellHalf::of_word(static_cast<std::uint32_t>(bits_)); }
  // is_apart(): whether it is a split cell or a story, of any launch. index(): its number in the
  // pool.
  constexpr bool is_apart() const { return !write().empty() && write().bytes() == ByteSet::none(); }
  constexpr bool is_split() const { return is_apart() && write().lane() == kSplitLane; }
  constexpr bool is_story() const { return is_apart() && write().lane() == kStoryLane; }
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(bits_); }
  // This cell without the accesses of records before the number `first`.
  constexpr GlobalCell since(std::uint32_t first) const {
    const bool wr = write().is_since(first);
    if (is_apart()) return wr ? *this : GlobalCell();
    return {wr ? write() : CellHalf(), read().is_since(first) ? read() : CellHalf()};
  }

  // The difference between the cells of neighbouring lanes: each non-empty half names the next
  // lane.
  class LaneStep {
   public:
    constexpr LaneStep(bool write, bool read)
        : halves_((write ? ~0ull << 32 : 0) | (read ? ~0ull >> 32 : 0)) {}

   private:
    friend class GlobalCell;
    std::uint64_t halves_;
  };
  constexpr GlobalCell moved(LaneStep step, std::uint32_t lanes) const {
    const std::uint64_t by = std::uint64_t{lanes} << CellHalf::kLaneShift;
    return of_bits(bits_ + ((by << 32 | by) & step.halves_));
  }
  // Whether a half of any of `count` cells counts from the number `first` on.
  static bool any_since(const GlobalCell* cells, std::uint32_t count, std::uint32_t first) {
    using Halves [[gnu::may_alias]] = std::uint32_t;
    const auto* const halves = reinterpret_cast<const Halves*>(cells);
    std::uint32_t any = 0;
    for (std::uint32_t i = 0; i < 2 * count; ++i)
      any |= static_cast<std::uint32_t>(halves[i] >= first << CellHalf::kNumberShift);
    return any != 0;
  }
  // Zero if the cells are equal. Results of several pairs can be combined with `|`.
  constexpr std::uint64_t difference(GlobalCell other) const { return bits_ ^ other.bits_; }
  bool operator==(const GlobalCell&) const = default;

 private:
  static constexpr std::uint32_t kSplitLane = 0, kStoryLane = 1;
  static constexpr GlobalCell of_bits(std::uint64_t bits) {
    GlobalCell cell;
    cell.bits_ = bits;
    return cell;
  }
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(GlobalCell) == 8);

// The states of a cell, by what its halves name.
enum class CellState : std::uint8_t {
  //                 write half               read half
  kUntouched,       // empty                    empty
  kRead,            // empty                    weak reads
  kPolled,          // empty                    strong reads of one thread
  kWritten,         // weak write               empty
  kWrittenRead,     // weak write               weak reads
  kWrittenUpdated,  // weak write               strong writes of a kind, after it
  kUpdated,         // strong writes of a kind  empty
  kUpdatedRead,     // strong writes of a kind  weak reads
  kStory,           // the mark of a story      its number
};
inline constexpr std::size_t kCellStates = 9;

// The kinds of access that a cell distinguishes. A strong access that may leave or acquire a
// message is a kMessage.
enum class CellAccess : std::uint8_t { kRead, kWrite, kStrongRead, kStrongWrite, kMessage };
inline constexpr std::size_t kCellAccesses = 5;

// The condition for the next state. If it does not hold, the cell becomes, or stays, a story.
enum class Question : std::uint8_t {
  kNone,
  // Is this a strong read by the thread, and with the scope, of the earlier strong reads?
  kSameThread,
  // Is the access an atomic of the same kind as the strong writes? All must be atomics of the same
  // scope and size, morally strong with each other, and all or none of their results are used.
  kSameKind,
  // As kSameKind, and the weak write must not belong to the chain that the access continues. It
  // belongs to the chain if one thread made both it and the atomics, and another thread makes the
  // access.
  kSameKindApart,
  // Does the weak write make everything that the story holds superfluous?
  kStandsForAll,
};

struct Transition {
  constexpr Transition(CellState next, Question question = Question::kNone)
      : next(next), question(question) {}
  CellState next;
  Question question;
};

// The next state of a cell, by its state and the access. The access must touch all bytes that the
// cell describes. A write is compared with both halves, a read with the writes in them.
//
// Strong writes are of a kind if kSameKind holds among them. If their results are used, the last
// one represents all before it. If not, the half names two threads.
inline constexpr auto kTransitions = [] {
  using enum CellState;
  using enum Question;
  constexpr Transition polled(kPolled, kSameThread), updated(kUpdated, kSameKind),
      then_updated(kWrittenUpdated, kSameKindApart), alone(kWritten, kStandsForAll);
  return std::array<std::array<Transition, kCellAccesses>, kCellStates>{{
      // clang-format off
      //                     kRead         kWrite    kStrongRead  kStrongWrite     kMessage
      /* kUntouched      */ {kRead,        kWritten, kPolled,     kUpdated,        kStory},
      /* kRead           */ {kRead,        kWritten, kStory,      kStory,          kStory},
      /* kPolled         */ {kStory,       kWritten, polled,      kStory,          kStory},
      /* kWritten        */ {kWrittenRead, kWritten, kStory,      kWrittenUpdated, kStory},
      /* kWrittenRead    */ {kWrittenRead, kWritten, kStory,      kStory,          kStory},
      /* kWrittenUpdated */ {kStory,       kWritten, kStory,      then_updated,    kStory},
      /* kUpdated        */ {kUpdatedRead, kWritten, kStory,      updated,         kStory},
      /* kUpdatedRead    */ {kUpdatedRead, kWritten, kStory,      kStory,          kStory},
      /* kStory          */ {kStory,       alone,    kStory,      kStory,          kStory},
      // clang-format on
  }};
}();
constexpr Transition transition(CellState before, CellAccess access) {
  return kTransitions[static_cast<std::size_t>(before)][static_cast<std::size_t>(access)];
}

}  // namespace lockstep::check
