// The memory test of a crash report (`crash-memcheck-enabled`), since a defective memory cell can crash any program.
// The test overwrites and restores private pages of the process that are in memory, for a few seconds at most. It runs
// in a signal handler: it allocates nothing, and stops the other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/process/crash/signal_log.h"

namespace respite {

inline constexpr size_t kPageWords = 512;

// Tests the words and restores their content. Requires: no other thread uses the words, and there are at most
// kPageWords of them.
uint64_t CountBadWordsInPlace(std::span<volatile uint64_t> words);  // counts memory words that do not keep a value

void TestMemoryAfterCrash(const SignalLog& log);  // writes the test's result to `log`; the process must be about to end

}  // namespace respite
