// Reads and writes vector sets in RDB form, as a value of Redis' module "vectorset".
//
//   n(dimensions) n(elements) n(m << 8 | encoding) n(1: projection | 2: attributes)
//   [ n(input dimensions) text(matrix of fp32) ]                                             if there is a projection
//   ( text(name) [ text(attributes), "" for none ] text(vector)                              if there are attributes
//     n(how many numbers follow) n(id) n(1 << 24 | level)
//     ( n(links) n(maximum of links) n(id)*links n(fp32(greatest distance) << 32 | place of that link) ) per layer
//     n(fp32(scale) << 32 | fp32(length)) )*elements
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "datatypes/vector_set.h"
#include "persistence/rdb_module.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr uint64_t kHasProjection = 1;
constexpr uint64_t kHasAttributes = 2;
constexpr uint64_t kNodeVersion = 1;   // version of the form of a node, in the byte above the level
constexpr int kNodeVersionShift = 24;  // position of this byte, in bits
constexpr uint64_t kSpareLevels = 64;  // levels that a set may have in addition to two per element
constexpr char kBadVectorSet[] = "the elements of a vector set are malformed";

float FloatOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t BitsOf(float number) { return std::bit_cast<uint32_t>(number); }

// Replaces values that this server never stores: NaN and infinity by 0, -128 by -127, and bits after the last dimension
// by 0. With such values, distances could be wrong or NaN.
void Sanitize(const VectorFormat& format, std::vector<uint64_t>& words) {
  switch (format.encoding()) {
    case VectorEncoding::kFloat: {
      auto* numbers = reinterpret_cast<float*>(words.data());
      for (uint32_t i = 0; i < format.dimensions(); ++i) {
        if (!std::isfinite(numbers[i])) numbers[i] = 0;
      }
      return;
    }
    case VectorEncoding::kInt8: {
      auto* numbers = reinterpret_cast<int8_t*>(words.data());
      for (uint32_t i = 0; i < format.dimensions(); ++i) numbers[i] = std::max<int8_t>(numbers[i], -127);
      return;
    }
    case VectorEncoding::kBinary:
      if (format.dimensions() % 64 != 0) words.back() &= (uint64_t{1} << format.dimensions() % 64) - 1;
  }
}

class VectorSetReader {
 public:
  VectorSetReader(RdbInput& input, const RdbEntryProperties& target)
      : input_(input), parts_(input), target_(target), table_(std::make_unique<VectorTable>()) {}

  RdbValueResult Read() {
    if (!ReadHead()) return BadValueFault("the head of a vector set is malformed");
    for (uint64_t left = count_; left > 0; --left) {
      if (!ReadElement()) return BadValueFault(kBadVectorSet);
      input_.FreeTexts();
    }
    parts_.End();
    if (input_.Failed()) return BadValueFault(kBadVectorSet);
    if (count_ == 0) return EmptyValueFault();
    if (!ResolveLinks()) return BadValueFault("the links of a vector set are malformed");
    return MakeObjectEntry(target_, ValueType::kVectorSet, std::move(table_));
  }

 private:
  bool ReadHead() {
    VectorSetShape shape;
    const uint64_t dimensions = parts_.Unsigned();
    count_ = parts_.Count(kFewestNumbers * kBytesPerPart);
    const uint64_t links = parts_.Unsigned();
    const uint64_t flags = parts_.Unsigned();
    constexpr auto kHighest = static_cast<uint64_t>(VectorEncoding::kBinary);
    if (dimensions == 0 || dimensions > VectorTable::kMaxDimensions || (links & 255) > kHighest) return false;
    if (links >> 8 < VectorTable::kMinLinks || links >> 8 > VectorTable::kMaxLinks) return false;
    if (flags > (kHasProjection | kHasAttributes)) return false;
    shape.dimensions = static_cast<uint32_t>(dimensions);
    shape.encoding = static_cast<VectorEncoding>(links & 255);
    shape.m = static_cast<uint32_t>(links >> 8);
    has_attributes_ = (flags & kHasAttributes) != 0;
    std::vector<float> matrix;
    if ((flags & kHasProjection) != 0 && !ReadProjection(shape, matrix)) return false;
    table_->SetShape(shape);
    table_->SetProjection(std::move(matrix));
    words_.resize((table_->graph().format().Bytes() + 7) / 8);
    return !input_.Failed();
  }

  bool ReadProjection(VectorSetShape& shape, std::vector<float>& matrix) {
    const uint64_t from = parts_.Unsigned();
    const RdbText text = parts_.Text();
    if (from == 0 || from > VectorTable::kMaxDimensions) return false;
    if (size_t{from} * shape.dimensions > VectorTable::kMaxProjection) return false;
    if (text.View().size() != from * shape.dimensions * sizeof(float)) return false;
    matrix.resize(from * shape.dimensions);
    std::memcpy(matrix.data(), text.View().data(), text.View().size());
    shape.input_dimensions = static_cast<uint32_t>(from);
    return std::all_of(matrix.begin(), matrix.end(), [](float number) { return std::isfinite(number); });
  }

  bool ReadElement() {
    const RdbText name = parts_.Text();
    const RdbText attributes = has_attributes_ ? parts_.Text() : RdbText();
    const RdbText vector = parts_.Text();
    const VectorFormat& format = table_->graph().format();
    if (input_.Failed() || vector.View().size() != format.Bytes()) return false;
    std::memcpy(words_.data(), vector.View().data(), format.Bytes());
    Sanitize(format, words_);
    const uint64_t numbers = parts_.Count(kBytesPerPart);
    if (numbers < kFewestNumbers) return false;
    const uint64_t id = parts_.Unsigned();
    const uint64_t level = parts_.Unsigned() ^ kNodeVersion << kNodeVersionShift;
    if (level > HnswGraph::kMaxLevel || id >= UINT32_MAX) return false;
    levels_ += level;
    if (levels_ > 2 * count_ + kSpareLevels) return false;
    const uint32_t slot = table_->AddUnlinked(name.View(), {words_.data(), 0}, 0, static_cast<uint32_t>(level), id);
    if (slot == VectorTable::kNone) return false;
    if (!attributes.View().empty()) table_->SetAttributes(slot, attributes.View());
    ids_.emplace_back(static_cast<uint32_t>(id), slot);
    return ReadLinks(slot, static_cast<uint32_t>(level), numbers - 3);
  }

  // Reads the numbers that follow the level of an element: the links of each layer, then scale and length. `left` is
  // the number of numbers that the RDB announces for all layers. Returns false if the layers have more or fewer
  // numbers, or if a number is invalid.
  bool ReadLinks(uint32_t slot, uint32_t level, uint64_t left) {
    for (uint32_t layer = 0; layer <= level; ++layer) {
      const uint64_t links = parts_.Unsigned();
      parts_.Unsigned();
      if (left < 3 || links > left - 3 || input_.Failed()) return false;
      left -= links + 3;
      for (uint64_t i = 0; i < links; ++i) {
        const uint64_t id = parts_.Unsigned();
        if (id >= UINT32_MAX || !table_->AddRawLink(slot, static_cast<uint32_t>(id), layer)) return false;
      }
      parts_.Unsigned();
    }
    const uint64_t sizes = parts_.Unsigned();
    const float scale = FloatOf(sizes >> 32);
    const float length = FloatOf(sizes);
    const bool is_int8 = table_->shape().encoding == VectorEncoding::kInt8;
    if (left != 0 || input_.Failed() || (is_int8 && !(std::isfinite(scale) && scale >= 0))) return false;
    table_->SetScaleAndLength(slot, is_int8 ? scale : 0,
                              length >= 0 ? std::min(length, std::numeric_limits<float>::max()) : 0);
    return true;
  }

  bool ResolveLinks() {
    std::sort(ids_.begin(), ids_.end());
    const auto same_id = [](const auto& one, const auto& other) { return one.first == other.first; };
    if (std::adjacent_find(ids_.begin(), ids_.end(), same_id) != ids_.end()) return false;
    const uint64_t secret = target_.hash_key.low ^ target_.hash_key.high;
    const uint64_t span = uint64_t{ids_.back().first} + 1;
    if (span > 4 * count_ + 1024) {
      return table_->ResolveLinks([this](uint32_t id) { return SlotOf(id); }, secret);
    }
    std::vector<uint32_t> slots(span, VectorTable::kNone);  // a faster index, if most ids are in use
    for (const auto& [id, slot] : ids_) slots[id] = slot;
    const auto slot_of = [&](uint32_t id) { return id < slots.size() ? slots[id] : VectorTable::kNone; };
    return table_->ResolveLinks(slot_of, secret);
  }

  uint32_t SlotOf(uint32_t id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), std::pair(id, uint32_t{0}));
    return at == ids_.end() || at->first != id ? VectorTable::kNone : at->second;
  }

  static constexpr uint64_t kBytesPerPart = 2;   // a tag, and a number of at least one byte
  static constexpr uint64_t kFewestNumbers = 6;  // of an element: id, level, one layer without links, sizes

  RdbInput& input_;
  RdbModuleInput parts_;
  const RdbEntryProperties& target_;
  std::unique_ptr<VectorTable> table_;
  uint64_t count_ = 0;
  uint64_t levels_ = 0;  // sum of the levels of all elements
  bool has_attributes_ = false;
  std::vector<uint64_t> words_;                     // the vector of the current element
  std::vector<std::pair<uint32_t, uint32_t>> ids_;  // id and slot of each element
};

class VectorSetWriter {
 public:
  VectorSetWriter(RdbOutput& out, const VectorTable& table)
      : parts_(out, rdb::kVectorSetModule),
        table_(table),
        graph_(table.graph()),
        // Gives the elements new ids if an id is too high for ReadElement, which accepts only ids below 2^32 - 1.
        renumbers_(table.LastId() >= UINT32_MAX) {}

  void Write() {
    const VectorSetShape& shape = table_.shape();
    const bool has_projection = shape.input_dimensions != 0;
    parts_.Unsigned(shape.dimensions);
    parts_.Unsigned(table_.Count());
    parts_.Unsigned(uint64_t{shape.m} << 8 | static_cast<uint64_t>(shape.encoding));
    parts_.Unsigned((has_projection ? kHasProjection : 0) | (HasAttributes() ? kHasAttributes : 0));
    if (has_projection) {
      parts_.Unsigned(shape.input_dimensions);
      parts_.Text(
          {reinterpret_cast<const char*>(table_.projection().data()), table_.projection().size() * sizeof(float)});
    }
    for (uint32_t slot = 0; slot < graph_.SlotLimit(); ++slot) {
      if (graph_.IsUsed(slot)) WriteElement(slot);
    }
    parts_.End();
  }

 private:
  bool HasAttributes() const { return table_.AttributeCount() != 0; }
  uint64_t IdOf(uint32_t slot) const { return renumbers_ ? uint64_t{slot} + 1 : table_.ElementOf(slot).id; }

  void WriteElement(uint32_t slot) {
    const StoredVector vector = graph_.VectorOf(slot);
    parts_.Text(table_.NameOf(slot));
    if (HasAttributes()) parts_.Text(table_.AttributesOf(slot).value_or(Bytes()));
    parts_.Text({static_cast<const char*>(vector.data), graph_.format().Bytes()});
    uint64_t numbers = 3;
    for (uint32_t layer = 0; layer <= graph_.LevelOf(slot); ++layer) numbers += 3 + graph_.LinksOf(slot, layer).size();
    parts_.Unsigned(numbers);
    parts_.Unsigned(IdOf(slot));
    parts_.Unsigned(kNodeVersion << kNodeVersionShift | graph_.LevelOf(slot));
    for (uint32_t layer = 0; layer <= graph_.LevelOf(slot); ++layer) WriteLinks(slot, layer);
    parts_.Unsigned(BitsOf(vector.scale) << 32 | BitsOf(graph_.LengthOf(slot)));
  }

  void WriteLinks(uint32_t slot, uint32_t layer) {
    const std::span<const uint32_t> links = graph_.LinksOf(slot, layer);
    const StoredVector vector = graph_.VectorOf(slot);
    parts_.Unsigned(links.size());
    parts_.Unsigned(graph_.MaxLinksOn(layer));
    float greatest = 0;
    uint64_t place = 0;
    for (size_t i = 0; i < links.size(); ++i) {
      parts_.Unsigned(IdOf(links[i]));
      const float distance = graph_.DistanceOf(links[i], vector);
      if (distance > greatest) std::tie(greatest, place) = std::pair(distance, i);
    }
    parts_.Unsigned(BitsOf(greatest) << 32 | place);
  }

  RdbModuleOutput parts_;
  const VectorTable& table_;
  const HnswGraph& graph_;
  const bool renumbers_;
};

}  // namespace

RdbValueResult ReadRdbVectorSet(RdbInput& input, const RdbEntryProperties& target) {
  return VectorSetReader(input, target).Read();
}

void WriteRdbVectorSet(RdbOutput& out, const Entry& entry) {
  VectorSetWriter(out, static_cast<const VectorTable&>(*entry.ObjectValue())).Write();
}

}  // namespace respite
