#include "properties/subject.h"

#include <string>

#include "harness/property/digest.h"
#include "harness/property/domain.h"

namespace lockstep::properties {
namespace {

// Draws the field with this number anew; after the last visit, `count` is the number of fields.
struct OneField : FieldVisitor {
  OneField(int which, Bits& bits) : which(which), bits(bits) {}
  void visit(Field& field) override {
    if (count++ == which)
      field.set(field.draw(rc::Random(bits.next()), rc::kNominalSize, nullptr).value());
  }
  const int which;
  Bits& bits;
  int count = 0;
};

// The extents and types of the calls' arrays, which contents must match.
std::vector<std::int64_t> shape_of(const BoundCalls& calls) {
  std::vector<std::int64_t> shape;
  for (const BoundCall& call : calls.calls) {
    for (const ArrayArgument& array : call.contract->arrays()) {
      const Footprint& f = array.footprint;
      shape.insert(shape.end(), {f.count, f.before, f.after, f.room,
                                 static_cast<std::int64_t>(array.element_type)});
    }
  }
  return shape;
}

}  // namespace

std::uint64_t seed_of_case(const AnyCase& c) {
  const std::string text = lockstep::detail::print_case(c);
  return digest_of(text.data(), text.size());
}

std::unique_ptr<AnyCase> with_other_contents(const Subject& subject, const AnyCase& c) {
  const std::vector<std::int64_t> wanted = shape_of(subject.calls(c));
  Bits bits(seed_of_case(c));
  auto best = c.copy();
  for (int i = 0, count = 1; i < count; ++i) {
    auto trial = best->copy();
    OneField draw(i, bits);
    trial->fields(draw);
    count = draw.count;
    trial->normalise();
    if (shape_of(subject.calls(*trial)) == wanted) best = std::move(trial);
  }
  return best;
}

std::vector<std::unique_ptr<AnyCase>> with_one_field_redrawn(const AnyCase& c, int count) {
  const std::string text = lockstep::detail::print_case(c);
  Bits bits(seed_of_case(c));
  OneField counter(-1, bits);
  c.copy()->fields(counter);
  std::vector<std::unique_ptr<AnyCase>> all;
  const auto begin = static_cast<int>(bits.below(static_cast<std::uint64_t>(counter.count)));
  for (int i = 0; i < counter.count && static_cast<int>(all.size()) < count; ++i) {
    auto other = c.copy();
    OneField draw((begin + i) % counter.count, bits);
    other->fields(draw);
    other->normalise();
    if (lockstep::detail::print_case(*other) != text) all.push_back(std::move(other));
  }
  return all;
}

std::unique_ptr<AnyCase> another_case(const Subject& subject, const AnyCase& c) {
  Bits bits(seed_of_case(c));
  const auto drawn = lockstep::detail::draw_case([&] { return subject.fresh(); },
                                                 rc::Random(bits.next()), rc::kNominalSize);
  return drawn.value()->copy();
}

}  // namespace lockstep::properties
