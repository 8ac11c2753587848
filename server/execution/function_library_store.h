// FunctionLibraryStore: the FunctionStore through which a Capture takes all function libraries out of a server, and
// puts them back, together with the keys.
#pragma once

#include <memory>

#include "server/dataset/dataset.h"

namespace respite {

class FunctionLibraries;

class FunctionLibraryStore final : public FunctionStore {  // exchanges all function libraries for Dataset
 public:
  // `libraries` must outlive this object.
  explicit FunctionLibraryStore(FunctionLibraries& libraries) : libraries_(libraries) {}

  std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) override;  // stores new (null: none), returns old

 private:
  FunctionLibraries& libraries_;  // the libraries of FUNCTION LOAD
};

}  // namespace respite
