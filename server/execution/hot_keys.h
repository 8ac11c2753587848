// HotKeys: finds the keys on which commands spend the most time, or which cause the most traffic (HOTKEYS).
//
// A session of HotKeys begins with Start and ends with Stop or after its duration. Its results stay until Reset or the
// next Start. Only commands with keys count, but not the commands that a script calls. The time and bytes of a command
// are divided equally among its keys. A session remembers at most kMaxKeys keys for each metric, so that its memory is
// limited. When all places are taken, a new key replaces the key with the smallest sum and inherits that sum (the
// algorithm Space-Saving).
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class Random;

class HotKeySums {  // sums of times or of bytes by key, for the keys with the largest sums
 public:
  using Item = std::pair<std::string, uint64_t>;  // a key and its sum

  void Add(Bytes key, uint64_t amount);           // adds to the sum of a key. Cost: up to O(kMaxKeys)
  std::vector<Item> Largest(size_t count) const;  // the keys with the largest sums, largest first
  uint64_t Total() const { return total_; }       // sum of all added amounts, also of keys that were replaced

 private:
  static constexpr size_t kMaxKeys = 1000;  // maximum number of remembered keys

  std::map<std::string, uint64_t, std::less<>> sums_;  // sum by key; ordered, so clients cannot prepare collisions
  uint64_t total_ = 0;                                 // sum of all added amounts, also of keys that were replaced
};

class HotKeys final : public CallObserver {  // the current or latest session of HOTKEYS
 public:
  struct Options {                // what HOTKEYS START was told
    bool by_cpu_time = false;     // CPU: sums the time of commands
    bool by_net_bytes = false;    // NET: sums the bytes of requests and replies
    size_t count = 10;            // number of keys that HOTKEYS GET shows
    int64_t duration_ms = 0;      // the HOTKEYS session ends after this time; 0: only by Stop
    int64_t sample_ratio = 1;     // on average one of `sample_ratio` commands counts
    std::vector<int> slots = {};  // only keys of these slots count, in ascending order; empty: all keys
  };
  struct Sums {                     // time and bytes of some commands
    uint64_t duration_us = 0;       // duration in µs
    uint64_t net_bytes = 0;         // bytes of requests and replies
    void Add(const Sums& amount) {  // adds `amount`
      duration_us += amount.duration_us;
      net_bytes += amount.net_bytes;
    }
  };
  struct Results {                // a HOTKEYS session, as HOTKEYS GET shows it
    Options options;              // what HOTKEYS START was told
    int64_t started_wall_ms = 0;  // Unix time when the session started, in ms
    int64_t duration_ms = 0;      // time from the start until the end, or until now
    int64_t cpu_user_ms = 0;      // CPU time of the process in user mode during the session
    int64_t cpu_sys_ms = 0;       // CPU time of the process in the kernel during the session
    Sums all_commands;            // all commands with keys, but not those of scripts
    Sums selected;                // the commands with at least one key in `slots`, or all if `slots` is empty
    Sums sampled;                 // the random sample of `selected`; cpu_us and net_bytes count only these
    HotKeySums cpu_us;            // run time of commands in µs, by key
    HotKeySums net_bytes;         // bytes of requests and replies, by key
  };
  struct Parts {               // the objects that HotKeys uses; its constructor gets them
    const Env& env;            // clocks
    CallObservers& observers;  // report the commands to HotKeys
    Random& random;            // chooses the commands that count (SAMPLE)
  };
  explicit HotKeys(const Parts& parts) : parts_(parts) {}

  void Start(Options options);            // begins a HOTKEYS session. Requires: none is active
  void Stop();                            // ends the active HOTKEYS session
  void Reset() { has_results_ = false; }  // forgets the results. Requires: no HOTKEYS session is active
  bool IsActive();                        // true: a HOTKEYS session is active; first ends one whose duration has passed
  bool HasResults() const { return has_results_; }  // true: a HOTKEYS session began since the last Reset
  const Results& results();                         // results until the end, or until now; requires HasResults()

  void OnCall(const FinishedCall& call) override;  // adds the time and bytes of the command to the results

 private:
  bool IsSelected(Bytes key) const;  // the key is in one of the slots of HOTKEYS START, or all slots count
  void NoteTimes();                  // updates duration and CPU times of results_

  const Parts parts_;           // the objects that the constructor got
  bool has_results_ = false;    // a HOTKEYS session began since the last Reset, so results_ is valid
  bool is_active_ = false;      // a HOTKEYS session is active: commands are counted
  int64_t started_ms_ = 0;      // clock time (monotonic) of the start
  rusage usage_at_start_ = {};  // CPU time of the process when the session began
  Results results_;             // results of the current or latest session; valid if has_results_
};

}  // namespace respite
