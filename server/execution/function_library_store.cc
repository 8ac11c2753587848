#include "server/execution/function_library_store.h"

#include <utility>

#include "scripting/function_library.h"

namespace respite {

namespace {

class LoadedLibraries final : public FunctionStore::Content {  // libraries that Exchange took out, with their Lua state
 public:
  explicit LoadedLibraries(FunctionLibraries::Contents contents) : contents_(std::move(contents)) {}

  size_t FunctionCount() const override { return contents_.loaded.functions.size(); }
  bool MayBeFreedByOtherThread() const override { return !contents_.IsShared(); }
  FunctionLibraries::Contents TakeContents() { return std::move(contents_); }

 private:
  FunctionLibraries::Contents contents_;
};

}  // namespace

std::unique_ptr<FunctionStore::Content> FunctionLibraryStore::Exchange(std::unique_ptr<Content> content) {
  auto replaced = std::make_unique<LoadedLibraries>(libraries_.Take());
  if (content != nullptr) libraries_.PutBack(static_cast<LoadedLibraries&>(*content).TakeContents());
  return replaced;
}

}  // namespace respite
