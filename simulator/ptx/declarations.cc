#include "simulator/ptx/declarations.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "simulator/isa/names.h"

namespace lockstep::ptx {
namespace {

// Larger than any device's memory: a larger size is a mistake in the text.
constexpr std::uint64_t kLargestVariable = 1ull << 40;
// The limit for initialisers, which are stored in memory with the zeros between them.
constexpr std::uint64_t kLargestInitialiser = 1ull << 28;
// More dimensions than any program has.
constexpr std::size_t kMaxDimensions = 32;

struct Shape {
  Type type = Type::kNone;
  std::uint64_t element = 0;              // bytes
  std::vector<std::uint64_t> dimensions;  // empty for a scalar; the first may be 0, for "[]"
};

std::uint64_t checked_size(Cursor& in, const Shape& shape) {
  std::uint64_t size = shape.element;
  for (const std::uint64_t d : shape.dimensions) {
    if (size > kLargestVariable / std::max<std::uint64_t>(d, 1))
      in.fail("the variable is larger than any memory");
    size *= std::max<std::uint64_t>(d, 1);
  }
  // "[]" leaves the size to the initialiser.
  return std::find(shape.dimensions.begin(), shape.dimensions.end(), 0) == shape.dimensions.end()
             ? size
             : 0;
}

class Initialiser {
 public:
  Initialiser(Cursor& in, const Shape& shape, Variable& variable)
      : in_(in), shape_(shape), variable_(variable) {}

  void parse() {
    if (shape_.dimensions.empty() && !in_.at('{')) {
      element(0);
      end_ = shape_.element;
    } else {
      level(0, 0);
    }
    if (variable_.size == 0) variable_.size = end_;
  }

 private:
  // Parses one level of braces, whose first byte is at `at`. Omitted elements are zero.
  void level(std::size_t depth, std::uint64_t at) {
    std::uint64_t stride = shape_.element, room = 1;
    for (std::size_t i = depth; i < shape_.dimensions.size(); ++i) {
      if (i > depth) stride *= shape_.dimensions[i];
    }
    if (depth < shape_.dimensions.size()) room = shape_.dimensions[depth];
    const bool unbounded = depth == 0 && !shape_.dimensions.empty() && room == 0;
    // A flat list may fill an array of several dimensions.
    const std::uint64_t bytes =
        unbounded ? std::numeric_limits<std::uint64_t>::max() : room * stride;
    in_.expect('{');
    std::uint64_t offset = 0;
    while (!in_.at('}')) {
      if (offset >= bytes) in_.fail("more initialisers than elements");
      if (in_.at('{')) {
        if (depth + 1 >= std::max<std::size_t>(shape_.dimensions.size(), 1))
          in_.fail("initialiser nested deeper than the array");
        level(depth + 1, at + offset);
        offset += stride;
      } else {
        element(at + offset);
        offset += shape_.element;
      }
      if (!in_.accept(',')) break;
    }
    in_.expect('}');
    end_ = std::max(end_, at + offset);
  }

  void put(std::uint64_t at, std::uint64_t bits, std::uint64_t bytes) {
    if (variable_.size != 0 && at + bytes > variable_.size)
      in_.fail("more initialisers than elements");
    if (at + bytes > kLargestInitialiser)
      in_.fail("initialisers beyond the first 256 MiB of a variable are not supported");
    if (variable_.initial.size() < at + bytes) variable_.initial.resize(at + bytes);
    for (std::uint64_t i = 0; i < bytes; ++i)
      variable_.initial[at + i] = i < 8 ? static_cast<std::uint8_t>(bits >> (8 * i)) : 0;
  }

  // "+12", "-4" or nothing.
  std::int64_t addend() {
    if (!in_.at('+') && !in_.at('-')) return 0;
    const bool minus = in_.take().is('-');
    const auto v = static_cast<std::uint64_t>(in_.expect_integer("an offset"));
    return static_cast<std::int64_t>(minus ? 0 - v : v);  // wraps like addresses
  }

  void address(std::uint64_t at, bool generic, std::uint64_t mask) {
    if (shape_.element > sizeof(std::uint64_t))
      in_.fail("an address does not initialise a type wider than 64 bits");
    Variable::Relocation r;
    r.offset = at;
    r.size = static_cast<std::uint32_t>(shape_.element);
    r.generic = generic;
    r.mask = mask;
    r.symbol = in_.expect_word("a symbol");
    r.addend = addend();
    put(at, 0, shape_.element);
    variable_.relocations.push_back(std::move(r));
  }

  void element(std::uint64_t at) {
    if (in_.at_word() && !in_.at("WARP_SZ")) {
      if (in_.accept("generic")) {
        in_.expect('(');
        address(at, true, ~0ull);
        in_.expect(')');
        std::int64_t& sum = variable_.relocations.back().addend;
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                        static_cast<std::uint64_t>(addend()));
      } else {
        address(at, false, ~0ull);
      }
      return;
    }
    const int line = in_.line();
    const Constant c = in_.expect_constant("an initialiser");
    if (in_.at('(') &&
        c.kind != Constant::Kind::kFloat) {  // 0xFF00(symbol): one byte of an address
      in_.take();
      const bool generic = in_.accept("generic");
      if (generic) in_.expect('(');
      address(at, generic, c.bits);
      if (generic) in_.expect(')');
      in_.expect(')');
      return;
    }
    const auto bits = bits_as(c, shape_.type);
    if (!bits)
      in_.fail(line, "the initialiser does not fit the type ." +
                         std::string(isa::type_name(shape_.type)));
    put(at, *bits, shape_.element);
  }

  Cursor& in_;
  const Shape& shape_;
  Variable& variable_;
  std::uint64_t end_ = 0;
};

// The directives that may stand between the state space and the name, in any order that ptxas
// accepts.
struct Prefix {
  std::uint32_t alignment = 0;
  std::uint32_t vector = 1;
  Type type = Type::kNone;
  bool managed = false;
};

void parse_attribute(Cursor& in, Prefix& prefix) {
  in.expect('(');
  do {
    if (in.accept(".managed")) {
      prefix.managed = true;
    } else if (in.accept(".unified")) {
      in.expect('(');
      in.expect_integer("a number");
      in.expect(',');
      in.expect_integer("a number");
      in.expect(')');
    } else {
      in.unexpected(".managed or .unified");
    }
  } while (in.accept(','));
  in.expect(')');
}

std::uint32_t parse_alignment(Cursor& in) {
  const std::uint32_t a = in.expect_count("an alignment");
  if (!std::has_single_bit(a))
    in.fail("the alignment " + std::to_string(a) + " is no power of two");
  return a;
}

Prefix parse_prefix(Cursor& in) {
  Prefix p;
  while (in.at_directive()) {
    const std::string_view d = in.current().text;
    if (d == ".align") {
      in.take();
      p.alignment = parse_alignment(in);
    } else if (d == ".attribute") {
      in.take();
      parse_attribute(in, p);
    } else if (d == ".v2" || d == ".v4") {
      p.vector = static_cast<std::uint32_t>(in.take().text[2] - '0');
    } else if (d == ".ptr") {
      // Skips the space and alignment of a kernel's pointer parameter, a hint that does not change
      // the layout.
      in.take();
      if (in.at_directive() && isa::space_from_name(in.current().text.substr(1)) != Space::kNone)
        in.take();
      if (in.accept(".align")) parse_alignment(in);
    } else if (p.type == Type::kNone) {
      p.type = expect_type(in);
    } else {
      break;
    }
  }
  if (p.type == Type::kNone) in.unexpected("a type");
  return p;
}

Variable parse_declarator(Cursor& in, Space space, const Prefix& prefix, Shape& shape) {
  Variable v;
  v.space = space;
  v.type = prefix.type;
  v.is_managed = prefix.managed;
  v.name = in.expect_word("a name");
  shape.type = prefix.type;
  shape.element = static_cast<std::uint64_t>(size_of(prefix.type));
  if (prefix.type == Type::kPred) in.fail("a predicate cannot be in memory");
  if (prefix.vector > 1) shape.dimensions.push_back(prefix.vector);
  std::size_t outer = 0;
  while (in.accept('[')) {
    const std::uint64_t d =
        in.at(']') ? 0 : static_cast<std::uint64_t>(in.expect_integer("an array size"));
    in.expect(']');
    if (d == 0 && outer > 0) in.fail("only the first dimension may be left open");
    if (outer == kMaxDimensions)
      in.fail("the array has more than " + std::to_string(kMaxDimensions) + " dimensions");
    shape.dimensions.insert(shape.dimensions.begin() + static_cast<std::ptrdiff_t>(outer++), d);
  }
  v.size = checked_size(in, shape);
  v.alignment = prefix.alignment != 0 ? prefix.alignment
                                      : static_cast<std::uint32_t>(shape.element * prefix.vector);
  return v;
}

}  // namespace

Type expect_type(Cursor& in) {
  const Type t = in.at_directive() ? isa::type_from_name(in.current().text.substr(1)) : Type::kNone;
  if (t == Type::kNone) in.unexpected("a type");
  in.take();
  return t;
}

Linkage parse_linkage(Cursor& in) {
  Linkage l;
  for (;;) {
    if (in.accept(".extern")) {
      l.is_extern = true;
    } else if (in.accept(".weak")) {
      l.is_weak = true;
    } else if (in.accept(".visible")) {
      l.is_visible = true;
    } else if (in.accept(".common")) {
      l.is_common = true;
    } else {
      return l;
    }
  }
}

std::vector<Variable> parse_variables(Cursor& in, const Linkage& linkage) {
  const Space space =
      in.at_directive() ? isa::space_from_name(in.current().text.substr(1)) : Space::kNone;
  if (space == Space::kNone) in.unexpected("a state space");
  in.take();
  if (in.at('[')) in.fail("numbered constant banks are no longer part of PTX");
  const Prefix prefix = parse_prefix(in);
  std::vector<Variable> all;
  do {
    Shape shape;
    const int line = in.line();
    Variable v = parse_declarator(in, space, prefix, shape);
    v.is_extern = linkage.is_extern;
    v.is_weak = linkage.is_weak ||
                linkage.is_common;  // several modules may define it; one definition is used
    v.is_visible = linkage.is_visible;
    if (in.accept('=')) {
      if (space != Space::kGlobal && space != Space::kConst)
        in.fail(line, "only .global and .const variables have initialisers: " + v.name);
      Initialiser(in, shape, v).parse();
    }
    if (v.size == 0 && !v.is_extern && !shape.dimensions.empty() && space != Space::kShared &&
        space != Space::kParam)
      in.fail(line, "the array " + v.name + " has no size");
    all.push_back(std::move(v));
  } while (in.accept(','));
  in.expect(';');
  return all;
}

std::vector<Variable> parse_parameter_list(Cursor& in) {
  std::vector<Variable> all;
  in.expect('(');
  if (in.accept(')')) return all;
  do {
    if (in.at(".reg"))
      in.fail("parameters in registers are not supported: pass them in .param space");
    if (!in.accept(".param")) in.unexpected(".param");
    const Prefix prefix = parse_prefix(in);
    Shape shape;
    all.push_back(parse_declarator(in, Space::kParam, prefix, shape));
  } while (in.accept(','));
  in.expect(')');
  return all;
}

std::vector<std::uint32_t> parameter_offsets(const Function& function) {
  std::vector<std::uint32_t> offsets;
  std::uint64_t at = 0;
  for (const Variable& p : function.parameters) {
    const std::uint64_t align = std::max<std::uint32_t>(p.alignment, 1);
    at = (at + align - 1) / align * align;
    offsets.push_back(static_cast<std::uint32_t>(at));
    at += p.size;
  }
  offsets.push_back(static_cast<std::uint32_t>(at));
  return offsets;
}

}  // namespace lockstep::ptx
