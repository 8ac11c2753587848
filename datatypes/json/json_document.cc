#include "datatypes/json/json_document.h"

#include <malloc.h>

namespace respite {

size_t JsonDocument::UsedBytes(size_t samples) const {
  return malloc_usable_size(const_cast<JsonDocument*>(this)) + root_.UsedBytes(samples);
}

}  // namespace respite
