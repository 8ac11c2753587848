// Json: the JSON document of a key.
//
//   call.db.Read<Json>(key)           const Json   ┐
//   call.db.Open<Json>(key)           Edit<Json>   ├─► Json::Document().root(): JsonValue
//   call.db.OpenOrCreate<Json>(key)   Edit<Json>   ┘   a new document is null
//
// A document is an Object of any size. OBJECT ENCODING says "raw", as for all values of modules in Redis.
#pragma once

#include <memory>
#include <utility>

#include "datatypes/json/json_value.h"
#include "datatypes/object.h"
#include "datatypes/value_slot.h"

namespace respite {

class JsonDocument final : public Object {  // the value of a key of type ReJSON-RL
 public:
  JsonDocument() = default;  // null
  explicit JsonDocument(JsonValue root) : root_(std::move(root)) {}

  JsonValue& root() { return root_; }
  const JsonValue& root() const { return root_; }

  std::unique_ptr<Object> Clone() const override { return std::make_unique<JsonDocument>(root_.Clone()); }
  size_t Size() const override { return root_.CountValues(kMaxCounted); }  // values, counted up to about kMaxCounted
  size_t UsedBytes(size_t samples) const override;  // memory, estimated from `samples` values per container; 0: exact

 private:
  static constexpr size_t kMaxCounted = 4096;  // Size() does not count further, so that it is fast

  JsonValue root_;
};

class Json : public Collection {  // gives access to the document of one key
 public:
  static constexpr ValueType kType = ValueType::kJson;  // the type of an entry that holds a document
  static constexpr bool kStaysWhenEmpty = true;         // {} and [] are documents
  static std::unique_ptr<Object> MakeInitialObject() { return std::make_unique<JsonDocument>(); }  // makes a null

  explicit Json(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return !Exists(); }  // true: no such key
  // Requires: Exists().
  JsonDocument& Document() { return slot_.As<JsonDocument>(); }              // the value, for changes
  const JsonDocument& Document() const { return slot_.As<JsonDocument>(); }  // the value
};

}  // namespace respite
