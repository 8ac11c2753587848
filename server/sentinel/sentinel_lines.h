// Converts a Sentinel's state to `sentinel …` directives of sentinel.conf, in Redis' format. SentinelLinesReader reads
// these directives.
#pragma once

#include <vector>

#include "server/config/config_rewrite.h"
#include "server/sentinel/sentinel_state.h"

namespace respite {

std::vector<SentinelLine> LinesOf(const SentinelState& state);  // the state as directives for sentinel.conf

}  // namespace respite
