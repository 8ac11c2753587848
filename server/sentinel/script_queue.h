// ScriptQueue: runs the operator's programs for events and for new primaries (notification-script and
// client-reconfig-script), each as a process of its own. At most 16 run at the same time. A program that ends with code
// 1 or by a signal is run again later, up to ten times in all. The delay doubles each time.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class ScriptQueue {  // runs the notification and reconfiguration scripts, a few at a time
 public:
  struct Job {                       // a program that runs, or waits until it is started
    std::vector<std::string> words;  // path of the program, then its arguments
    bool is_running = false;         // true: the program runs now
    int64_t process_id = 0;          // id of the process that runs the program; 0: it does not run
    int tries = 0;                   // how many times the program was started
    int64_t at_ms = kLongAgo;        // when the program started, or may start (real time)
  };
  explicit ScriptQueue(const SentinelCore& core) : core_(core) {}

  void Add(std::vector<std::string> words);
  void Continue();  // starts due programs, handles ended ones, kills late ones; called by the timer

  const std::list<Job>& jobs() const { return jobs_; }
  int running_count() const { return running_count_; }  // how many programs run now

 private:
  void StartDue();              // starts due programs, while fewer than 16 run
  void Start(Job& job);         // starts the program as a child process; if that fails, `job` stays queued
  void CollectEndedPrograms();  // removes ended programs from the queue, or lets them run again later
  void End(const ProgramEnd& end);
  void KillOverduePrograms();  // kills programs that run for longer than script_max_runtime_ms

  const SentinelCore core_;
  std::list<Job> jobs_;
  int running_count_ = 0;  // how many programs run now
};

}  // namespace respite
