// FunctionStore: the functions of FCALL as an opaque part of the data. So code that captures, replaces or drops a
// Dataset treats keys and functions together (Capture).
#pragma once

#include <cstddef>
#include <memory>

namespace respite {

class FunctionStore {
 public:
  // The functions at one moment. Another thread may free them.
  class Content {
   public:
    virtual ~Content() = default;
    // Cost: O(size of the functions' texts).
    virtual std::unique_ptr<Content> Clone() const = 0;
    virtual size_t Functions() const = 0;
  };

  virtual ~FunctionStore() = default;
  virtual std::unique_ptr<Content> Copy() const = 0;
  // Replaces the functions by `content` and returns the old ones. Null means no functions. Cost: O(1) for content that
  // Exchange returned; for a copy, the cost of loading its libraries again.
  virtual std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) = 0;
};

}  // namespace respite
