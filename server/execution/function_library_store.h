// FunctionLibraryStore: the libraries of functions as a part of the Dataset.
#pragma once

#include <memory>

#include "server/dataset/function_store.h"

namespace respite {

class FunctionLibraries;

class FunctionLibraryStore final : public FunctionStore {
 public:
  // The libraries must outlive it.
  explicit FunctionLibraryStore(FunctionLibraries& libraries) : libraries_(libraries) {}

  std::unique_ptr<Content> Copy() const override;
  std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) override;

 private:
  FunctionLibraries& libraries_;
};

}  // namespace respite
