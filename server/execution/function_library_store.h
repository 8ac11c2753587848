// FunctionLibraryStore: makes the function libraries part of the Dataset.
#pragma once

#include <memory>

#include "server/dataset/dataset.h"

namespace respite {

class FunctionLibraries;

class FunctionLibraryStore final : public FunctionStore {  // lets Dataset copy and exchange the function libraries
 public:
  // The libraries must outlive this object.
  explicit FunctionLibraryStore(FunctionLibraries& libraries) : libraries_(libraries) {}

  std::unique_ptr<Content> Copy() const override;                                // copies all libraries
  std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) override;  // returns the old libraries

 private:
  FunctionLibraries& libraries_;  // the libraries of FUNCTION LOAD
};

}  // namespace respite
