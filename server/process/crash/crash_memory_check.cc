#include "server/process/crash/crash_memory_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"
#include "base/memory.h"

namespace respite {

namespace {

#ifdef RESPITE_SANITIZED
constexpr bool kTests = false;  // sanitizers keep their own data in memory and use it at each access
#else
constexpr bool kTests = true;
#endif
constexpr uint64_t kPageBytes = kPageWords * sizeof(uint64_t);
constexpr uint64_t kPatterns[] = {0, ~uint64_t{0}, 0x5555555555555555U, 0xaaaaaaaaaaaaaaaaU};
constexpr size_t kRegionsMax = 4096;
constexpr time_t kSecondsMax = 5;

struct Region {
  uint64_t begin;
  uint64_t end;
};

// The memory regions to test. They and `residency` are static variables, because a signal handler cannot allocate
// memory.
struct Regions {
  std::array<Region, kRegionsMax> rows;
  size_t count;
};
Regions regions;
std::array<unsigned char, 4096> residency;  // bytes, one for each page

[[noreturn]] void PauseForever(int) {
  for (;;) pause();
}

// Makes all other threads pause forever. Lists the threads in /proc with system calls, because opendir() allocates
// memory.
void StopOtherThreads() {
  const Descriptor tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks.IsOpen()) return;
  std::signal(SIGUSR2, PauseForever);
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, tasks.Get(), entries, sizeof entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      pid_t thread = 0;
      std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
      if (thread != 0 && thread != gettid()) syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
      at += entry->d_reclen;
    }
  }
  const timespec a_moment{0, 20'000'000};
  nanosleep(&a_moment, nullptr);
}

// Adds the region of memory that a line of /proc/self/maps describes, such as "7f31886ae000-7f31886b0000 rw-p 00000000
// 00:00 0 [heap]". Adds only private memory that belongs to no file, and has no name or the name [heap].
void AddRegion(std::string_view line) {
  Region region{};
  const char* const end = line.data() + line.size();
  auto [dash, error] = std::from_chars(line.data(), end, region.begin, 16);
  if (error != std::errc() || dash == end) return;
  auto [rest, error_again] = std::from_chars(dash + 1, end, region.end, 16);
  const std::string_view what(rest, static_cast<size_t>(end - rest));
  const bool is_private = error_again == std::errc() && what.starts_with(" rw-p ");
  const bool has_file = what.find(" 00:00 0 ") == std::string_view::npos && !what.ends_with(" 00:00 0");
  const bool is_special = what.find('[') != std::string_view::npos && what.find("[heap]") == std::string_view::npos;
  if (is_private && !has_file && !is_special && regions.count < kRegionsMax) regions.rows[regions.count++] = region;
}

void ReadRegions() {
  const Descriptor maps(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps.IsOpen()) return;
  char buffer[4096];
  size_t kept = 0;
  for (;;) {
    const ssize_t bytes = read(maps.Get(), buffer + kept, sizeof buffer - kept);
    if (bytes <= 0) break;
    std::string_view text(buffer, kept + static_cast<size_t>(bytes));
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      AddRegion(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    kept = text.size() < sizeof buffer ? text.size() : 0;
    std::memmove(buffer, text.data(), kept);
  }
}

// Returns true if the memory test itself uses the region: its stack, its thread-local variables or its tables.
bool IsInUse(const Region& region) {
  const auto has = [&region](const void* what) {
    const auto address = reinterpret_cast<uint64_t>(what);
    return address >= region.begin && address < region.end;
  };
  return has(__builtin_frame_address(0)) || has(__builtin_thread_pointer()) || has(&regions) || has(&residency);
}

bool IsLate(const timespec& started) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec - started.tv_sec >= kSecondsMax;
}

struct Findings {
  uint64_t pages = 0;
  uint64_t bad_words = 0;
};

// Tests those pages of a region that are in memory. The test would load the other pages, so they are left out.
void TestRegion(const Region& region, const timespec& started, Findings& findings) {
  for (uint64_t part = region.begin; part < region.end && !IsLate(started);) {
    const uint64_t bytes = std::min<uint64_t>(region.end - part, residency.size() * kPageBytes);
    void* const address = reinterpret_cast<void*>(part);  // NOLINT: tests an address
    if (mincore(address, bytes, residency.data()) != 0) return;
    for (uint64_t page = 0; page < bytes / kPageBytes; ++page) {
      if ((residency[page] & 1) == 0) continue;
      auto* words = reinterpret_cast<volatile uint64_t*>(part + page * kPageBytes);  // NOLINT: tests an address
      findings.bad_words += CountFailedPatternsInPlace({words, kPageWords});
      ++findings.pages;
    }
    part += bytes;
  }
}

}  // namespace

uint64_t CountFailedPatternsInPlace(std::span<volatile uint64_t> words) {
  uint64_t kept[kPageWords];
  for (size_t i = 0; i < words.size(); ++i) kept[i] = words[i];
  uint64_t bad = 0;
  for (const uint64_t pattern : kPatterns) {
    for (volatile uint64_t& word : words) word = pattern;
    for (volatile uint64_t& word : words) bad += word != pattern ? 1U : 0U;
  }
  for (size_t i = 0; i < words.size(); ++i) words[i] = kept[i];
  return bad;
}

void TestMemoryAfterCrash(const SignalLog& log) {
  log.Write("\n------ FAST MEMORY TEST ------\n");
  StopOtherThreads();
  regions.count = 0;
  ReadRegions();
  timespec started{};
  clock_gettime(CLOCK_MONOTONIC, &started);
  Findings findings;
  for (const Region& region : std::span(regions.rows).first(regions.count)) {
    if (kTests && !IsInUse(region)) TestRegion(region, started, findings);
  }
  log.Decimal(static_cast<int64_t>(findings.pages * kPageBytes >> 10));
  log.Write(" KB tested, ");
  log.Decimal(static_cast<int64_t>(findings.bad_words));
  log.Write(findings.bad_words == 0
                ? " bad words. Fast memory test PASSED, which does not prove that the memory is good.\n"
                : " bad words. !!! MEMORY ERROR DETECTED: replace this memory !!!\n");
}

}  // namespace respite
