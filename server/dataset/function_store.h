// FunctionStore: the functions of FCALL as one piece of the data. A Dataset holds them without knowing what they are
// made of, so that whoever captures, replaces or drops data does so with keys and functions together (Capture).
#pragma once

#include <cstddef>
#include <memory>

namespace respite {

class FunctionStore {
 public:
  // The functions of one moment. Another thread may free them.
  class Content {
   public:
    virtual ~Content() = default;
    // Cost: O(size of the functions' texts).
    virtual std::unique_ptr<Content> Clone() const = 0;
    virtual size_t Functions() const = 0;
  };

  virtual ~FunctionStore() = default;
  virtual std::unique_ptr<Content> Copy() const = 0;
  // Puts `content` in place of what is there, which is returned. Null: there are no functions then. Cost: O(1) for what
  // Exchange returned; for a copy that of loading its libraries anew.
  virtual std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) = 0;
};

}  // namespace respite
