// VADD, VREM and VSETATTR change vector sets. VCARD, VDIM and VINFO describe a vector set as a whole.
#include <algorithm>
#include <optional>
#include <utility>

#include "server/commands/families.h"
#include "server/commands/vectors/vector_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBadVAddOption[] = "ERR invalid option after element";
constexpr char kBadLinks[] = "ERR invalid M";
constexpr char kOtherEncoding[] = "ERR asked quantization mismatch with existing vector set";
constexpr char kOtherLinks[] = "ERR asked M value mismatch with existing vector set";
constexpr char kNoProjection[] = "ERR cannot add projection to existing set without projection";
constexpr char kNoVectorSet[] = "ERR key does not exist";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kDefaultBuildEf = 200;  // candidates for the neighbours of a new element
constexpr uint64_t kBuildWork =
    12u << 20;  // bytes that the search for neighbours may read, unless EF is small; about 4 ms

// Limits the EF of VADD, so that other clients do not wait long. An `ef` of at most kDefaultBuildEf is not changed. The
// search computes about 20 distances per candidate.
uint32_t BoundedBuildEf(uint32_t ef, const VectorFormat& format) {
  const uint64_t affordable = kBuildWork / (format.Bytes() + 256) / 20;
  return std::min(ef, std::max(kDefaultBuildEf, static_cast<uint32_t>(affordable)));
}

// ---------------------------------------------------------------------------------------------------------------------
// VADD

struct VAddArguments {
  Bytes key;
  std::optional<uint32_t> reduced;  // dimensions of REDUCE
  std::vector<float> vector;
  Bytes element;
  VectorEncoding encoding = VectorEncoding::kInt8;
  uint32_t ef = kDefaultBuildEf;
  uint32_t m = 16;
  std::optional<Bytes> attributes;
};

void TakeVAddOptions(Args& args, VAddArguments& wanted) {
  while (!args.AtEnd()) {
    if (args.TakeToken("CAS")) continue;  // the search for neighbours is not done in another thread
    if (args.TakeToken("NOQUANT")) {
      wanted.encoding = VectorEncoding::kFloat;
    } else if (args.TakeToken("Q8")) {
      wanted.encoding = VectorEncoding::kInt8;
    } else if (args.TakeToken("BIN")) {
      wanted.encoding = VectorEncoding::kBinary;
    } else if (args.TakeTokenWith("EF", 1)) {
      wanted.ef = TakeEf(args);
    } else if (args.TakeTokenWith("SETATTR", 1)) {
      wanted.attributes = args.Next();
    } else if (args.TakeTokenWith("M", 1)) {
      const size_t m = args.NextCount(VectorTable::kMinLinks, refusals::kBadLinks);
      if (m > VectorTable::kMaxLinks) throw Refusal{refusals::kBadLinks};
      wanted.m = static_cast<uint32_t>(m);
    } else {
      throw Refusal{refusals::kBadVAddOption};
    }
  }
}

VAddArguments TakeVAddArguments(Call& call) {
  VAddArguments wanted;
  wanted.key = call.args.Next();
  if (call.args.TakeTokenWith("REDUCE", 1)) {
    const size_t reduced = call.args.NextCount(1, refusals::kBadVector);
    if (reduced > VectorTable::kMaxDimensions) throw Refusal{refusals::kBadVector};
    wanted.reduced = static_cast<uint32_t>(reduced);
  }
  wanted.vector = TakeVector(call.args);
  if (wanted.reduced && *wanted.reduced > wanted.vector.size()) throw Refusal{refusals::kBadVector};
  if (wanted.reduced && *wanted.reduced * wanted.vector.size() > VectorTable::kMaxProjection)
    throw Refusal{refusals::kLargeProjection};
  if (call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
  wanted.element = call.args.Next();
  TakeVAddOptions(call.args, wanted);
  return wanted;
}

// Throws a Refusal if the vector or the options do not fit the existing set.
void CheckVAdd(const VectorTable& table, const VAddArguments& wanted) {
  const VectorSetShape& shape = table.shape();
  if (wanted.encoding != shape.encoding) throw Refusal{refusals::kOtherEncoding};
  if (wanted.m != shape.m) throw Refusal{refusals::kOtherLinks};
  const bool is_projected = shape.input_dimensions != 0;
  if (wanted.reduced.value_or(is_projected ? 0 : shape.dimensions) != shape.dimensions) {
    const bool only_lacks_projection = !is_projected && wanted.vector.size() == shape.dimensions;
    if (!only_lacks_projection) throw Refusal{DimensionMismatch(wanted.vector.size(), shape.dimensions)};
  }
  if (wanted.reduced && !is_projected) {
    if (wanted.vector.size() != shape.dimensions) {
      throw Refusal{DimensionMismatch(wanted.vector.size(), shape.dimensions)};
    }
    throw Refusal{refusals::kNoProjection};
  }
  CheckVectorDimensions(table, wanted.vector.size());
}

VectorSetShape ShapeOfNew(const VAddArguments& wanted) {
  VectorSetShape shape;
  shape.encoding = wanted.encoding;
  shape.m = wanted.m;
  shape.dimensions = wanted.reduced.value_or(static_cast<uint32_t>(wanted.vector.size()));
  if (wanted.reduced) shape.input_dimensions = static_cast<uint32_t>(wanted.vector.size());
  return shape;
}

struct VAdd {
  static constexpr CommandSpec spec = {
      .syntax =
          "VADD key [REDUCE reduce{dim:integer}] format(FP32|VALUES) vector element [CAS] "
          "[quant_type(NOQUANT|BIN|Q8)] [EF build-exploration-factor:integer] [SETATTR attributes] "
          "[M numlinks:integer]",
      .summary = "Adds an element with its vector to a vector set, or gives the element another vector.",
      .since = "8.0.0",
      .module = kVectorModule,
      .complexity = "O(log(N)), N being the number of elements",
      .group = CommandGroup::kModule,
      .flags = kWrite | kDenyOom | kOfModule,
      .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    VAddArguments wanted = TakeVAddArguments(call);
    {
      const VectorSet set = call.db.Read<VectorSet>(wanted.key);
      if (set.Exists()) CheckVAdd(set.Table(), wanted);
    }
    Edit<VectorSet> set = call.db.OpenOrCreate<VectorSet>(wanted.key);
    VectorTable& table = set->Table();
    if (!table.HasShape()) {
      table.SetShape(ShapeOfNew(wanted));
      table.SetUid(call.random.Next() >> 32);
    }
    const EncodedVector vector = EncodeVector(table, std::move(wanted.vector));
    const bool is_new = table.Put(wanted.element, vector.View(), vector.length, call.random,
                                  BoundedBuildEf(wanted.ef, table.graph().format()));
    if (wanted.attributes) {
      const bool is_removed = wanted.attributes->empty();  // as of VSETATTR: files have no empty attributes
      table.SetAttributes(table.Find(wanted.element), is_removed ? std::nullopt : wanted.attributes);
    }
    set.ReportChangeWithoutEvent();
    call.reply.Bool(is_new);
  }
};

struct VRem {
  static constexpr CommandSpec spec = {.syntax = "VREM key element",
                                       .summary = "Removes an element from a vector set.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(log(N)), N being the number of elements",
                                       .group = CommandGroup::kModule,
                                       .flags = kWrite | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    Edit<VectorSet> set = call.db.Open<VectorSet>(key);
    const bool is_removed = set && set->Table().Erase(element);
    if (is_removed) set.ReportChangeWithoutEvent();
    call.reply.Bool(is_removed);
  }
};

struct VSetAttr {
  static constexpr CommandSpec spec = {.syntax = "VSETATTR key element json",
                                       .summary = "Sets the JSON attributes of an element; an empty text removes them.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(log(N)), N being the number of elements",
                                       .group = CommandGroup::kModule,
                                       .flags = kWrite | kFast | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element, json] = call.args.Take<Bytes, Bytes, Bytes>();
    Edit<VectorSet> set = call.db.Open<VectorSet>(key);
    const uint32_t slot = set ? set->Table().Find(element) : VectorTable::kNone;
    if (slot == VectorTable::kNone) return call.reply.Bool(false);
    set->Table().SetAttributes(slot, json.empty() ? std::nullopt : std::optional<Bytes>(json));
    set.ReportChangeWithoutEvent();
    call.reply.Bool(true);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Commands about a whole set

struct VCard {
  static constexpr CommandSpec spec = {.syntax = "VCARD key",
                                       .summary = "Counts the elements of a vector set.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kFast | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    const VectorSet set = call.db.Read<VectorSet>(call.args.Next());
    call.reply.Integer(set.Exists() ? set.Table().Count() : 0);
  }
};

struct VDim {
  static constexpr CommandSpec spec = {.syntax = "VDIM key",
                                       .summary = "Tells the number of dimensions of the vectors that a set stores.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kFast | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    const VectorSet set = call.db.Read<VectorSet>(call.args.Next());
    if (!set.Exists()) throw Refusal{refusals::kNoVectorSet};
    call.reply.Integer(set.Table().shape().dimensions);
  }
};

Bytes EncodingName(VectorEncoding encoding) {
  return encoding == VectorEncoding::kFloat ? "f32" : encoding == VectorEncoding::kInt8 ? "int8" : "bin";
}

struct VInfo {
  static constexpr CommandSpec spec = {.syntax = "VINFO key",
                                       .summary = "Describes a vector set: its encoding, its dimensions and its graph.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kFast | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    const VectorSet set = call.db.Read<VectorSet>(call.args.Next());
    if (!set.Exists()) return call.reply.NullArray();
    const VectorTable& table = set.Table();
    const VectorSetShape& shape = table.shape();
    const std::pair<Bytes, uint64_t> numbers[] = {{"hnsw-m", shape.m},
                                                  {"vector-dim", shape.dimensions},
                                                  {"projection-input-dim", shape.input_dimensions},
                                                  {"size", table.Count()},
                                                  {"max-level", table.graph().TopLayer()},
                                                  {"attributes-count", table.AttributeCount()},
                                                  {"vset-uid", table.Uid()},
                                                  {"hnsw-max-node-uid", table.LastId()}};
    call.reply.Map(1 + std::size(numbers));
    call.reply.Simple("quant-type");
    call.reply.Simple(EncodingName(shape.encoding));
    for (const auto& [name, number] : numbers) {
      call.reply.Simple(name);
      call.reply.Integer(static_cast<int64_t>(number));
    }
  }
};

constexpr auto kVectorCommands = Family<VAdd, VCard, VDim, VInfo, VRem, VSetAttr>();

}  // namespace

std::span<const CommandCard> VectorCommands() { return kVectorCommands; }

}  // namespace respite
