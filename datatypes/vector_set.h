// VectorSet: elements with a vector each, which are found by the similarity of their vectors (Redis' type `vectorset`).
//
//   call.db.Read<VectorSet>(key)    const VectorSet   ┐
//   call.db.Open<VectorSet>(key)    Edit<VectorSet>   ├─► VectorSet::Table(): VectorTable
//   call.db.OpenOrCreate<VectorSet> Edit<VectorSet>   ┘
//
//   VectorTable
//     graph    HnswGraph: slot ─► vector, links, and VectorElement (name, attributes, id)
//     order    SlotOrder: the slots by name
//
// A new set has no dimensions before SetShape is called. The first vector of a set determines the encoding, the number
// of dimensions and the maximum number of links for all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/member.h"
#include "datatypes/object.h"
#include "datatypes/value_slot.h"
#include "datatypes/vectors/hnsw_graph.h"
#include "datatypes/vectors/slot_order.h"

namespace respite {

struct VectorElement {  // what a set stores for an element in addition to its vector
  Member name;          // the name of the element
  Member attributes;    // text in JSON; no member: the element has none
  uint64_t id = 0;      // a number that no other vector of this set has or had
};

struct VectorSetShape {                             // the properties that all vectors of a set share
  VectorEncoding encoding = VectorEncoding::kInt8;  // how numbers are stored
  uint32_t dimensions = 0;                          // dimensions of the stored vectors
  uint32_t m = 16;                // maximum number of links per node and layer; twice as many on layer 0
  uint32_t input_dimensions = 0;  // dimensions of clients' vectors before the projection (REDUCE); 0: no projection
};

class VectorTable final : public Object {  // the value of a vector set
 public:
  static constexpr uint32_t kNone = HnswGraph::kNone;        // returned instead of a slot: there is none
  static constexpr uint32_t kMaxDimensions = 65'536;         // maximum number of dimensions of a vector, as in Redis
  static constexpr size_t kMaxProjection = size_t{1} << 24;  // maximum of numbers in a matrix of REDUCE (64 MB)
  static constexpr uint32_t kMinLinks = 4;                   // minimum of VectorSetShape::m
  static constexpr uint32_t kMaxLinks = HnswGraph::kMaxM;    // maximum of VectorSetShape::m

  VectorTable() = default;
  ~VectorTable() override;

  std::unique_ptr<Object> Clone() const override;   // returns a deep copy
  size_t Size() const override { return Count(); }  // number of elements
  size_t UsedBytes(size_t samples) const override;  // memory in bytes, exact (ignores `samples`); cost: O(n / 256)

  // Requires: HasShape() is false; dimensions and m are within kMaxDimensions, kMinLinks and kMaxLinks.
  void SetShape(const VectorSetShape& shape);  // sets the properties of a new set

  bool HasShape() const { return graph_ != nullptr; }  // false: the set is new, and SetShape must be called
  // The functions from here on that read or change elements require HasShape(), except Find and Count.
  const VectorSetShape& shape() const { return shape_; }  // encoding, dimensions and links
  const HnswGraph& graph() const { return *graph_; }      // the vectors and the links between them
  // The matrix has shape().dimensions rows of shape().input_dimensions floats.
  const std::vector<float>& projection() const { return projection_; }  // the matrix of REDUCE; empty: no projection
  void SetProjection(std::vector<float> matrix) { projection_ = std::move(matrix); }  // replaces the matrix

  uint32_t Count() const { return graph_ == nullptr ? 0 : graph_->Count(); }  // number of elements
  size_t TextBytes() const { return text_bytes_; }              // memory of names and attributes outside the graph
  uint64_t LastId() const { return last_id_; }                  // the greatest VectorElement::id so far
  void SetLastId(uint64_t id) { last_id_ = id; }                // sets LastId(), for readers of files
  uint32_t AttributeCount() const { return attribute_count_; }  // number of elements with attributes
  uint64_t Uid() const { return uid_; }                         // a number that tells sets apart
  void SetUid(uint64_t uid) { uid_ = uid; }                     // sets the number that tells sets apart

  // Cost: O(log n).
  uint32_t Find(Bytes name) const;  // the slot of an element; kNone: there is no such element
  Bytes NameOf(uint32_t slot) const { return ElementOf(slot).name.Text(); }  // name; valid until the next change
  const VectorElement& ElementOf(uint32_t slot) const {                      // name, attributes and id of an element
    return *reinterpret_cast<const VectorElement*>(graph_->ExtraOf(slot));
  }
  std::optional<Bytes> AttributesOf(uint32_t slot) const {  // the attributes in JSON; nullopt: none
    const Member& attributes = ElementOf(slot).attributes;
    return attributes ? std::optional(attributes.Text()) : std::nullopt;
  }

  // Stores a vector. An element with this name gets the new vector, and keeps its attributes. Returns true if the name
  // is new. Requires: `vector` is not a view of this set.
  bool Put(Bytes name, const StoredVector& vector, float length, Random& random, uint32_t ef);  // true: a new element
  bool Erase(Bytes name);                                        // removes an element; false: there is none
  void SetAttributes(uint32_t slot, std::optional<Bytes> text);  // nullopt: removes the attributes

  // For readers of files: adds an element whose vector has no links yet. Returns its slot, or kNone if the name exists.
  // The reader then adds all links, and finishes with ResolveLinks (see HnswGraph).
  uint32_t AddUnlinked(Bytes name, const StoredVector& vector,  // adds an element without links; returns its slot
                       float length, uint32_t level, uint64_t id);
  void SetScaleAndLength(uint32_t slot, float scale, float length) {  // sets the scale and the length of a vector
    graph_->SetScaleAndLength(slot, scale, length);
  }
  bool AddRawLink(uint32_t from, uint32_t number, uint32_t layer) {  // adds a link to id `number`; false: no room
    return graph_->AddRawLink(from, number, layer);
  }
  bool ResolveLinks(const std::function<uint32_t(uint32_t)>& slot_of,  // end of loading; false: bad links
                    uint64_t secret) {
    return graph_->ResolveLinks(slot_of, secret);
  }

  const SlotOrder& order() const { return order_; }  // the slots by name
  SlotOrder::Place AtOrAfter(Bytes name) const {     // the first element whose name is not below `name`
    return order_.AtOrAfter(name, [this](uint32_t slot) { return NameOf(slot); });
  }
  uint32_t RandomSlot(Random& random) const {  // a random element; requires: Count() > 0
    return graph_->PickRandom(random);
  }
  // An interrupted search compares this number, to notice that elements have changed since its last step.
  uint64_t Changes() const { return graph_->Changes() + attribute_changes_; }  // changes whenever an element changes

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  VectorElement& MutableElement(uint32_t slot) {  // the element in this slot, to change it
    return *reinterpret_cast<VectorElement*>(graph_->ExtraOf(slot));
  }
  void AddElement(uint32_t slot, Member name, Member attributes, uint64_t id);  // stores name and attributes of a node
  bool HasVector(uint32_t slot, const StoredVector& vector,  // true: the element has exactly this vector
                 float length) const;

  VectorSetShape shape_;              // the properties that all vectors of the set share
  std::unique_ptr<HnswGraph> graph_;  // null: SetShape was not called yet
  SlotOrder order_;                   // the slots by name
  std::vector<float> projection_;     // the matrix of REDUCE; empty: vectors are not projected
  uint64_t last_id_ = 0;              // the greatest VectorElement::id so far
  uint64_t uid_ = 0;                  // tells sets apart
  uint32_t attribute_count_ = 0;      // number of elements with attributes
  uint64_t attribute_changes_ = 0;    // how often attributes were set or removed
  size_t text_bytes_ = 0;             // memory of names and attributes outside the graph
};

class VectorSet : public Collection {  // gives access to the vector set of one key
 public:
  static constexpr ValueType kType = ValueType::kVectorSet;  // the type of an entry that holds a vector set
  static std::unique_ptr<Object> MakeInitialObject() { return std::make_unique<VectorTable>(); }  // makes an empty set

  explicit VectorSet(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return !Exists() || Table().Count() == 0; }  // true: no elements, or no such key
  // Requires: Exists().
  VectorTable& Table() { return slot_.As<VectorTable>(); }              // the value, to change it
  const VectorTable& Table() const { return slot_.As<VectorTable>(); }  // the value, to read it
};

}  // namespace respite
