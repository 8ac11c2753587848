// Object: a value too large or too complex to live inside its entry: a table, a tree, a chain of chunks.
//
// The entry owns it and frees it, possibly on another thread. The type of the entry determines the kind of object: each
// type has exactly one.
#pragma once

#include <cstddef>
#include <memory>

namespace respite {

class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // A deep copy. Cost: O(n).
  virtual std::unique_ptr<Object> Clone() const = 0;
  // The number of elements (fields, members): the cost of freeing the object.
  virtual size_t Size() const = 0;
  // The bytes that the allocator uses for it, estimated from `samples` of its elements; 0: from all. Cost: O(samples).
  virtual size_t UsedBytes(size_t samples) const = 0;
};

}  // namespace respite
