// Lab: the functions of TEST, with which a test controls the server that it uses. They are off and cost nothing, unless
// the directive test-commands allows them.
#pragma once

#include "server/execution/services.h"
#include "server/lab/awaits.h"
#include "server/lab/clock_control.h"
#include "server/lab/faults/fault_rules.h"
#include "server/lab/lint/lint.h"
#include "server/lab/missing_features.h"
#include "server/lab/named_snapshots.h"
#include "server/lab/node_group.h"
#include "server/lab/request_journal.h"
#include "server/lab/restarts.h"
#include "server/lab/shuffle.h"
#include "server/lab/worlds.h"

namespace respite {

struct Lab {
  // The objects that the Node makes before its Lab.
  struct Parts {
    MovableClock* clock;  // null: the clock cannot be moved
    DiskFaults& disk;
    TimeKeeper& keeper;
    uint64_t seed;  // of faults with a probability, and of TEST SHUFFLE
  };
  Lab(const Services& services, const Parts& parts);
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  ClockControl clock;
  NamedSnapshots snapshots;
  RequestJournal journal;
  Awaits awaits;
  FaultRules faults;
  Lint lint;
  MissingFeatures missing;
  Shuffle shuffle;
  Worlds* worlds = nullptr;      // null if this server cannot have any
  Restarts* restarts = nullptr;  // null if this server cannot restart itself
  NodeGroup* group = nullptr;    // null if it runs alone, or in a thread of its own
};

}  // namespace respite
