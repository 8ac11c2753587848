#include "server/execution/function_library_store.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "scripting/function_library.h"

namespace respite {

namespace {

// Saved function libraries, which FunctionLibraryStore::Exchange can put back.
class LibraryContent : public FunctionStore::Content {
 public:
  virtual void PutInto(FunctionLibraries& libraries) && = 0;
};

// Saved libraries as source texts. PutInto loads the libraries again from these texts.
class LibraryTexts final : public LibraryContent {
 public:
  explicit LibraryTexts(const FunctionLibraries::Collection& loaded) : functions_(loaded.functions.size()) {
    for (const auto& [name, library] : loaded.libraries) codes_.push_back(library->code);
  }

  std::unique_ptr<Content> Clone() const override { return std::make_unique<LibraryTexts>(*this); }
  size_t FunctionCount() const override { return functions_; }
  // Replaces the libraries by loading the texts. Loading cannot fail: all texts were loaded before, and libraries
  // cannot see the state of the server while they load. But the order of loading may differ, which may need more
  // memory. So Origin::kAccepted sets a higher memory limit.
  void PutInto(FunctionLibraries& libraries) && override {
    libraries.Take();
    [[maybe_unused]] const auto restored =
        libraries.Restore(codes_, FunctionLibraries::RestorePolicy::kAppend, FunctionLibraries::TimeLimit::kNone,
                          FunctionLibraries::Origin::kAccepted);
    assert(restored);
  }

 private:
  std::vector<std::string> codes_;
  size_t functions_;
};

// Saved libraries as they were loaded, with their Lua state.
class LoadedLibraries final : public LibraryContent {
 public:
  explicit LoadedLibraries(FunctionLibraries::Contents contents) : contents_(std::move(contents)) {}

  std::unique_ptr<Content> Clone() const override { return std::make_unique<LibraryTexts>(contents_.loaded); }
  size_t FunctionCount() const override { return contents_.loaded.functions.size(); }
  void PutInto(FunctionLibraries& libraries) && override { libraries.PutBack(std::move(contents_)); }

 private:
  FunctionLibraries::Contents contents_;
};

}  // namespace

std::unique_ptr<FunctionStore::Content> FunctionLibraryStore::Copy() const {
  return std::make_unique<LibraryTexts>(libraries_.Loaded());
}

std::unique_ptr<FunctionStore::Content> FunctionLibraryStore::Exchange(std::unique_ptr<Content> content) {
  auto replaced = std::make_unique<LoadedLibraries>(libraries_.Take());
  if (content != nullptr) std::move(static_cast<LibraryContent&>(*content)).PutInto(libraries_);
  return replaced;
}

}  // namespace respite
