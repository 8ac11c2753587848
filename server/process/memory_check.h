// --test-memory: writes patterns over a block of memory and reads them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace respite {

// Words that did not hold what was written to them, over all patterns.
// Cost: ten runs over the words.
uint64_t CountBadWords(std::span<volatile uint64_t> words);

// Tests so much memory, tells about it on standard output, and returns the exit code: 1 when a word was bad, or when
// there is no such memory.
int TestMemory(int megabytes);

}  // namespace respite
