// The memory test of a crash report (`crash-memcheck-enabled`), since a stuck bit crashes any program. The test
// overwrites and restores the resident pages of the process, for a few seconds at most. It is for signal handlers: it
// allocates nothing, and stops the other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/process/crash/signal_log.h"

namespace respite {

inline constexpr size_t kPageWords = 512;

// Tests the words and restores their content. Requires: no other thread uses the words, and there are at most
// kPageWords.
uint64_t CountBadWordsInPlace(std::span<volatile uint64_t> words);  // words that do not keep a written value

void TestMemoryAfterCrash(const SignalLog& log);  // writes the result to `log`; the process must be about to end

}  // namespace respite
