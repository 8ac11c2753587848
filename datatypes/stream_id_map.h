// StreamIdMap: an OrderedMap whose keys are IDs of stream entries.
#pragma once

#include "datatypes/ordered_map.h"
#include "datatypes/stream_id.h"

namespace respite {

template <class Value>
using StreamIdMap = OrderedMap<StreamId, Value>;

}  // namespace respite
