// Lab: what implements the command TEST, by which a test controls the server that it uses. The parts are off and cost
// nothing, unless the directive test-commands allows TEST.
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

struct Lab {              // the objects behind the TEST command
  struct Parts {          // objects of the server that exist before its Lab
    MovableClock* clock;  // the clock that TEST CLOCK moves; null: it cannot be moved
    DiskFaults& disk;
    TimeKeeper& keeper;  // serves the events that become due when the clock is moved
    uint64_t seed;       // seed for faults with a probability and for TEST SHUFFLE
  };
  Lab(const Services& services, const Parts& parts);
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  ClockControl clock;            // TEST CLOCK
  NamedSnapshots snapshots;      // TEST SNAPSHOT
  RequestJournal journal;        // TEST JOURNAL
  Awaits awaits;                 // TEST AWAIT
  FaultRules faults;             // TEST FAULT
  Lint lint;                     // TEST LINT
  MissingFeatures missing;       // TEST MISSING
  Shuffle shuffle;               // TEST SHUFFLE
  Worlds* worlds = nullptr;      // null if this server cannot have any
  Restarts* restarts = nullptr;  // null if this server cannot restart itself
  NodeGroup* group = nullptr;    // the nodes of a cluster in this process; null: there is none for this server
};

}  // namespace respite
