// FunctionLibraryStore: makes the function libraries part of the Dataset.
#pragma once

#include <memory>

#include "server/dataset/dataset.h"

namespace respite {

class FunctionLibraries;

class FunctionLibraryStore final : public FunctionStore {
 public:
  // The libraries must outlive this object.
  explicit FunctionLibraryStore(FunctionLibraries& libraries) : libraries_(libraries) {}

  std::unique_ptr<Content> Copy() const override;
  std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) override;

 private:
  FunctionLibraries& libraries_;
};

}  // namespace respite
