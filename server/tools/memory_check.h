// --test-memory: writes patterns over a block of memory and reads them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace respite {

// Writes ten patterns over the words, one after the other, and reads each back. Returns how many words did not keep
// their value; a word counts once for each pattern that it does not keep. Cost: ten passes over the words.
uint64_t CountFailedPatterns(std::span<volatile uint64_t> words);  // tests memory words; 0: all are good

// Tests `megabytes` of memory up to three times, and prints the result. Returns the exit code: 0 if all words were
// good. Returns 1 if a word was bad, the memory is not available, or `megabytes` is not positive.
int TestMemory(int megabytes);  // tests this number of MB of memory, prints the result; returns the exit code

}  // namespace respite
