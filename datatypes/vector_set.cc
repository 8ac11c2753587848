#include "datatypes/vector_set.h"

#include <cstring>
#include <utility>

namespace respite {

VectorTable::~VectorTable() {
  if (graph_ == nullptr || text_bytes_ == 0) return;
  for (uint32_t slot = 0; slot < graph_->SlotLimit(); ++slot) {
    if (!graph_->IsUsed(slot)) continue;
    Member::Destroy(ElementOf(slot).name);
    if (ElementOf(slot).attributes) Member::Destroy(ElementOf(slot).attributes);
  }
}

std::unique_ptr<Object> VectorTable::Clone() const {
  auto copy = std::make_unique<VectorTable>();
  if (graph_ == nullptr) return copy;
  copy->shape_ = shape_;
  copy->graph_ = std::make_unique<HnswGraph>(*graph_);
  copy->order_ = order_;
  copy->projection_ = projection_;
  copy->last_id_ = last_id_;
  copy->uid_ = uid_;
  copy->attribute_count_ = attribute_count_;
  for (uint32_t slot = 0; slot < graph_->SlotLimit(); ++slot) {
    if (!graph_->IsUsed(slot)) continue;
    VectorElement& element = copy->MutableElement(slot);
    element.name = Member::Create(NameOf(slot));
    copy->text_bytes_ += element.name.UsedBytes();
    if (!element.attributes) continue;
    element.attributes = Member::Create(*AttributesOf(slot));
    copy->text_bytes_ += element.attributes.UsedBytes();
  }
  return copy;
}

size_t VectorTable::UsedBytes(size_t) const {
  if (graph_ == nullptr) return sizeof *this;
  return sizeof *this + sizeof *graph_ + graph_->UsedBytes() + order_.UsedBytes() + text_bytes_ +
         projection_.capacity() * sizeof(float);
}

void VectorTable::SetShape(const VectorSetShape& shape) {
  shape_ = shape;
  graph_ = std::make_unique<HnswGraph>(VectorFormat(shape.encoding, shape.dimensions), shape.m, sizeof(VectorElement));
  if (shape.input_dimensions != 0) projection_ = HadamardProjection(shape.input_dimensions, shape.dimensions);
}

uint32_t VectorTable::Find(Bytes name) const {
  if (graph_ == nullptr) return kNone;
  const SlotOrder::Place place = AtOrAfter(name);
  if (order_.IsEnd(place) || NameOf(order_.At(place)) != name) return kNone;
  return order_.At(place);
}

bool VectorTable::HasVector(uint32_t slot, const StoredVector& vector, float length) const {
  const StoredVector old = graph_->VectorOf(slot);
  return old.scale == vector.scale && graph_->LengthOf(slot) == length &&
         std::memcmp(old.data, vector.data, graph_->format().Bytes()) == 0;
}

void VectorTable::AddElement(uint32_t slot, Member name, Member attributes, uint64_t id) {
  VectorElement& element = MutableElement(slot);
  element.name = name;
  element.attributes = attributes;
  element.id = id;
}

bool VectorTable::Put(Bytes name, const StoredVector& vector, float length, Random& random, uint32_t ef) {
  const uint32_t level = graph_->LevelFor(random.Next());
  const uint32_t old = Find(name);
  if (old == kNone) {
    const uint32_t slot = graph_->Insert(vector, length, level, ef);
    const Member member = Member::Create(name);
    text_bytes_ += member.UsedBytes();
    AddElement(slot, member, Member(), ++last_id_);
    order_.Insert(slot, [this](uint32_t other) { return NameOf(other); });
    return true;
  }
  if (HasVector(old, vector, length)) {
    MutableElement(old).id = ++last_id_;
    return false;
  }
  const VectorElement element = ElementOf(old);
  const SlotOrder::Place place = AtOrAfter(name);
  graph_->Erase(old);
  const uint32_t slot = graph_->Insert(vector, length, level, ef);
  AddElement(slot, element.name, element.attributes, ++last_id_);
  order_.Replace(place, slot);
  return false;
}

bool VectorTable::Erase(Bytes name) {
  const uint32_t slot = Find(name);
  if (slot == kNone) return false;
  SetAttributes(slot, std::nullopt);
  order_.Erase(AtOrAfter(name));
  const Member member = ElementOf(slot).name;
  graph_->Erase(slot);
  text_bytes_ -= member.UsedBytes();
  Member::Destroy(member);
  return true;
}

void VectorTable::SetAttributes(uint32_t slot, std::optional<Bytes> text) {
  ++attribute_changes_;
  VectorElement& element = MutableElement(slot);
  if (element.attributes) {
    text_bytes_ -= element.attributes.UsedBytes();
    Member::Destroy(std::exchange(element.attributes, Member()));
    --attribute_count_;
  }
  if (!text) return;
  element.attributes = Member::Create(*text);
  text_bytes_ += element.attributes.UsedBytes();
  ++attribute_count_;
}

uint32_t VectorTable::AddUnlinked(Bytes name, const StoredVector& vector, float length, uint32_t level, uint64_t id) {
  if (Find(name) != kNone) return kNone;
  const uint32_t slot = graph_->AddUnlinked(vector, length, level);
  const Member member = Member::Create(name);
  text_bytes_ += member.UsedBytes();
  AddElement(slot, member, Member(), id);
  order_.Insert(slot, [this](uint32_t other) { return NameOf(other); });
  last_id_ = std::max(last_id_, id);
  return slot;
}

bool VectorTable::IsConsistent() const {
  if (graph_ == nullptr) return true;
  if (!graph_->IsConsistent()) return false;
  uint32_t seen = 0, attributes = 0;
  std::optional<Bytes> before;
  for (SlotOrder::Place at = order_.First(); !order_.IsEnd(at); order_.Next(at), ++seen) {
    const uint32_t slot = order_.At(at);
    if (!graph_->IsUsed(slot) || (before && !(*before < NameOf(slot)))) return false;
    before = NameOf(slot);
    if (AttributesOf(slot)) ++attributes;
    if (ElementOf(slot).id > last_id_) return false;
  }
  return seen == Count() && attributes == attribute_count_;
}

}  // namespace respite
