// Object: a value too large or too rich to live inside its entry: a table, a tree, a chain of chunks.
//
// The entry owns it and frees it, possibly on another thread. What kind of object it is follows from the type of the
// entry: each type has exactly one.
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
  // Elements (fields, members): what it costs to free the object.
  virtual size_t Size() const = 0;
  // Memory the allocator spends on it, in bytes, judged by `samples` of its elements; 0: by all. Cost: O(samples).
  virtual size_t UsedBytes(size_t samples) const = 0;
};

}  // namespace respite
