// ScriptQueue: runs programs of the operator that are told of events and new primaries, some at a time, next to the
// server. A program that ends with code 1 or by a signal runs again later; the delay doubles each time.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class ScriptQueue {
 public:
  struct Job {
    std::vector<std::string> words;  // the path first
    bool is_running = false;
    int64_t process = 0;
    int tries = 0;
    int64_t at_ms = kLongAgo;  // when it started, or may start
  };
  explicit ScriptQueue(const SentinelCore& core) : core_(core) {}

  void Add(std::vector<std::string> words);
  // Starts programs that are due, notes those that have ended, and kills those that run for too long. Called by the
  // timer.
  void Continue();

  const std::list<Job>& jobs() const { return jobs_; }
  int running() const { return running_; }

 private:
  void StartDue();
  void Start(Job& job);
  void CollectEnded();
  void End(const ProgramEnd& end);
  void KillLate();

  const SentinelCore core_;
  std::list<Job> jobs_;
  int running_ = 0;
};

}  // namespace respite
