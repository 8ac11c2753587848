// The memory test of a crash report (`crash-memcheck-enabled`): a bit that is stuck makes any program crash. What the
// process has in memory is written over and put back, page after page, for a few seconds at most. For signal handlers:
// nothing is allocated, and it ends what other threads are at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/process/signal_log.h"

namespace respite {

// Words that did not keep what was written to them. The content is as before. Requires: nobody else uses the words, and
// there are at most kPageWords of them.
inline constexpr size_t kPageWords = 512;
uint64_t CountBadWordsInPlace(std::span<volatile uint64_t> words);

// Requires: the process is about to end.
void TestMemoryOfCrash(const SignalLog& log);

}  // namespace respite
