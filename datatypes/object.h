// Object: a value that is too large or too complex to be stored inside its entry. Examples are a hash table, a tree and
// a list of chunks.
//
// The entry owns the object and frees it, possibly on another thread. Each ValueType has exactly one class of objects,
// so the type of the entry determines the class.
#pragma once

#include <cstddef>
#include <memory>

namespace respite {

class Object {  // the base of collections that are too large to be stored inside an entry
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // Cost: O(n).
  virtual std::unique_ptr<Object> Clone() const = 0;  // returns a deep copy
  // Returns the number of elements, fields or members. For a stream, counts blocks, groups, pending entries and
  // producers; for a JSON document, counts values, up to about 4096. The number is used as the cost of freeing the
  // object.
  virtual size_t Size() const = 0;
  // Returns the number of bytes that the allocator uses for the object. Cost: O(samples), or O(n) if `samples` is 0.
  virtual size_t UsedBytes(size_t samples) const = 0;  // bytes, estimated from `samples` elements; 0: exact
};

}  // namespace respite
