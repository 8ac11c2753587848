#include "server/tools/memory_check.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace respite {

namespace {

constexpr int kPasses = 3;
constexpr size_t kMegabyte = size_t{1} << 20;

using Words = std::span<volatile uint64_t>;

// Fills the words with `pattern(index)`, reads them again, and returns how many have another value then.
template <class Pattern>
uint64_t BadWords(Words words, Pattern pattern) {
  for (size_t i = 0; i < words.size(); ++i) words[i] = pattern(i);
  uint64_t bad = 0;
  for (size_t i = 0; i < words.size(); ++i) bad += words[i] != pattern(i) ? 1U : 0U;
  return bad;
}

// Returns a fixed hash of the index. For neighbouring indices, about half of the bits differ.
uint64_t Scrambled(uint64_t index, uint64_t seed) {
  uint64_t x = index + seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t CountFailedPatterns(Words words) {
  uint64_t bad = 0;
  // Writes into each word its own index, which finds faulty address lines: two words then share memory, so that one has
  // the index of the other. The second pass does this with all bits inverted.
  bad += BadWords(words, [](size_t i) { return uint64_t{i}; });
  bad += BadWords(words, [](size_t i) { return ~uint64_t{i}; });
  // Finds weak cells: writes words of only 0 or only 1 bits, and then checkerboards, in which neighbouring bits differ.
  for (uint64_t level : {uint64_t{0}, ~uint64_t{0}}) bad += BadWords(words, [level](size_t) { return level; });
  for (uint64_t board : {0x5555555555555555U, 0xaaaaaaaaaaaaaaaaU}) {
    bad += BadWords(words, [board](size_t i) { return (i & 1) != 0 ? board : ~board; });
  }
  // Random data finds faults that depend on the pattern of bits.
  for (uint64_t seed : {1U, 2U, 3U, 4U}) bad += BadWords(words, [seed](size_t i) { return Scrambled(i, seed << 48); });
  return bad;
}

int TestMemory(int megabytes) {
  if (megabytes <= 0) {
    std::fprintf(stderr, "Please specify the amount of memory to test in megabytes.\n");
    return 1;
  }
  size_t size = static_cast<size_t>(megabytes) * kMegabyte;
  void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    std::fprintf(stderr, "Unable to allocate %d megabytes: %s\n", megabytes, std::strerror(errno));
    return 1;
  }
  uint64_t bad = 0;
  for (int pass = 1; pass <= kPasses && bad == 0; ++pass) {
    std::printf("Pass %d of %d over %d megabytes...", pass, kPasses, megabytes);
    std::fflush(stdout);
    bad = CountFailedPatterns({static_cast<volatile uint64_t*>(block), size / sizeof(uint64_t)});
    std::printf(bad == 0 ? " OK\n" : " %llu bad words\n", static_cast<unsigned long long>(bad));
  }
  munmap(block, size);
  std::printf(bad == 0 ? "Your memory passed this test.\n" : "Your memory is broken: replace it.\n");
  std::fflush(stdout);
  return bad == 0 ? 0 : 1;
}

}  // namespace respite
