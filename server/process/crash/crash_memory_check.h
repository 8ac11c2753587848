// The memory test of a crash report (`crash-memcheck-enabled`), since a stuck bit crashes any program. Overwrites and
// restores the resident pages of the process, for a few seconds at most. For signal handlers: allocates nothing, and
// stops the other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/process/crash/signal_log.h"

namespace respite {

// Counts words that did not keep the value written to them, and restores their content. Requires: no other thread uses
// the words, and there are at most kPageWords.
inline constexpr size_t kPageWords = 512;
uint64_t CountBadWordsInPlace(std::span<volatile uint64_t> words);  // at most kPageWords; restores them

void TestMemoryAfterCrash(const SignalLog& log);  // the process must be about to end

}  // namespace respite
