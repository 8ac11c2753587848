// ScriptQueue: runs programs of the operator that are told of events and new primaries, some at a time, next to the
// server. A program that ends with code 1 or by a signal runs again later; the delay doubles each time.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class ScriptQueue {  // runs programs of the operator
 public:
  struct Job {
    std::vector<std::string> words;  // the path first
    bool is_running = false;
    int64_t process = 0;       // id of the process
    int tries = 0;             // how often it was started
    int64_t at_ms = kLongAgo;  // when it started, or may start
  };
  explicit ScriptQueue(const SentinelCore& core) : core_(core) {}

  void Add(std::vector<std::string> words);
  void Continue();  // starts due programs, and ends late ones; called by the timer

  const std::list<Job>& jobs() const { return jobs_; }
  int running() const { return running_; }  // number of running programs

 private:
  void StartDue();              // some at a time
  void Start(Job& job);         // runs the program
  void CollectEndedPrograms();  // removes them, or plans another try
  void End(const ProgramEnd& end);
  void KillOverduePrograms();  // those that run for longer than script_max_runtime

  const SentinelCore core_;
  std::list<Job> jobs_;
  int running_ = 0;  // number of running programs
};

}  // namespace respite
