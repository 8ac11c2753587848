#include "server/process/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/str_cat.h"
#include "server/process/small_files.h"

namespace respite {

namespace {

constexpr uint64_t kReservedFiles = 32;  // for the log, listeners and persistence of each server
constexpr uint64_t kFilesIfUnknown = 1024;
constexpr char kScoreFile[] = "/proc/self/oom_score_adj";
constexpr int kHighestScore = 1000;

OpenFilesGrant NotEnough(uint64_t granted, uint64_t wanted) {
  return {
      0,
      {{LogLevel::kWarning, StrCat("Your current 'ulimit -n' of ", granted,
                                   " is not enough for the server to start. Please increase your open file limit to "
                                   "at least ",
                                   wanted, ". Exiting.")}}};
}

// Returns the number of descriptors that a server needs in addition to the sockets of its clients. Two of them are for
// each other node, because two nodes of a cluster have two connections with each other.
uint64_t ReservedFiles(uint32_t nodes) { return kReservedFiles + 2 * (nodes - 1); }

OpenFilesGrant Reduced(uint32_t maxclients, uint32_t nodes, uint64_t wanted, uint64_t granted, int error) {
  auto reduced = static_cast<uint32_t>(granted / nodes - ReservedFiles(nodes));
  return {reduced,
          {{LogLevel::kWarning, StrCat("You requested maxclients of ", maxclients, " requiring at least ", wanted,
                                       " max file descriptors.")},
           {LogLevel::kWarning, StrCat("Server can't set maximum open files to ", wanted,
                                       " because of OS error: ", std::strerror(error), ".")},
           {LogLevel::kWarning,
            StrCat("Current maximum open files is ", granted, ". maxclients has been reduced to ", reduced,
                   " to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.")}}};
}

}  // namespace

OpenFilesGrant RaiseOpenFilesLimit(uint32_t maxclients, uint32_t nodes) {
  uint64_t wanted = nodes * (maxclients + ReservedFiles(nodes));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {static_cast<uint32_t>(kFilesIfUnknown - kReservedFiles),
            {{LogLevel::kWarning, std::string("Unable to obtain the current NOFILE limit (") + std::strerror(errno) +
                                      "), assuming 1024 and setting the max clients configuration accordingly."}}};
  }
  uint64_t before = limit.rlim_cur;
  if (before >= wanted) return {maxclients, {}};
  rlimit raised{wanted, std::max<rlim_t>(limit.rlim_max, wanted)};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
    return {maxclients,
            {{LogLevel::kNotice, StrCat("Increased maximum number of open files to ", wanted,
                                        " (it was originally set to ", before, ").")}}};
  }
  int error = errno;
  limit.rlim_cur = limit.rlim_max;  // the highest limit without privileges
  uint64_t granted = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
  if (granted / nodes <= ReservedFiles(nodes)) return NotEnough(before, wanted);
  return Reduced(maxclients, nodes, wanted, granted, error);
}

void WatchMaxClients(Config& config, Logger& log, uint32_t nodes) {
  config.AddHook({"maxclients"}, [&config, &log, nodes]() -> std::optional<std::string> {
    const uint32_t wanted = config.settings().maxclients;
    const OpenFilesGrant grant = RaiseOpenFilesLimit(wanted, nodes);
    for (const ConfigNote& note : grant.notes) log.Log(note.level, note.text);
    if (grant.maxclients >= wanted) return std::nullopt;
    return StrCat("The operating system is not able to handle the specified number of clients, try with ",
                  grant.maxclients);
  });
}

void WatchPurging(Config& config) {
  config.AddHook({"jemalloc-bg-thread"}, [&config]() -> std::optional<std::string> {
    SetBackgroundPurging(config.settings().jemalloc_bg_thread);
    return std::nullopt;
  });
}

void StartPurgingLater(EventLoop& loop, const Settings& settings) {
  constexpr int64_t kDelayMs = 1000;
  loop.RunAfter(kDelayMs, [&settings] { SetBackgroundPurging(settings.jemalloc_bg_thread); });
}

OomScore::Outcome OomScore::Apply(const Settings& settings, Process process) {
  int score = 0;
  if (settings.oom_score_adj != OomScoreAdjust::kOff) {
    if (!original_score_) {
      auto line = FirstLineOf(kScoreFile);
      if (!line) return Fail("Unable to read oom_score_adj: ");
      original_score_ = std::atoi(line->c_str());
    }
    score = settings.oom_score_adj_values[static_cast<size_t>(process)];
    if (settings.oom_score_adj == OomScoreAdjust::kRelative) score += *original_score_;
    score = std::clamp(score, -kHighestScore, kHighestScore);
  } else if (original_score_) {
    score = *original_score_;
    original_score_.reset();
  } else {
    return Outcome::kDone;
  }
  if (WriteFile(kScoreFile, StrCat(score, "\n"))) return Fail("Unable to write oom_score_adj: ");
  return Outcome::kDone;
}

OomScore::Outcome OomScore::Fail(const char* what) {
  log_.Warning(what + std::string(std::strerror(errno)));
  return Outcome::kFailed;
}

}  // namespace respite
