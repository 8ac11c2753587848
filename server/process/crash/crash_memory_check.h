// The memory test of a crash report (`crash-memcheck-enabled`), because a defective memory cell may have caused the
// crash. The test overwrites and restores private pages of the process that are in memory, for a few seconds at most.
// It runs in a signal handler: it allocates nothing, and stops the other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/process/crash/signal_log.h"

namespace respite {

inline constexpr size_t kPageWords = 512;

// Writes four patterns into each word, reads them back, and restores the content. A word counts once for each pattern
// that it does not keep. Requires: no other thread uses the words, and there are at most kPageWords of them.
uint64_t CountFailedPatternsInPlace(std::span<volatile uint64_t> words);  // tests memory words; 0: all are good

void TestMemoryAfterCrash(const SignalLog& log);  // writes the test's result to `log`; the process must be about to end

}  // namespace respite
