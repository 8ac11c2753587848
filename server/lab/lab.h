// Lab: the objects that implement the command TEST, with which a test controls its server. If the directive
// test-commands forbids TEST, these objects do nothing and cost nothing.
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
  struct Parts {          // objects that the server creates before the Lab, which uses them
    MovableClock* clock;  // the clock that TEST CLOCK moves; null: no clock can be moved
    DiskFaults& disk;
    TimeKeeper& keeper;  // moves the clock for TEST CLOCK, and runs what becomes due
    uint64_t seed;       // seed for faults with a probability and for TEST SHUFFLE
  };
  Lab(const Services& services, const Parts& parts);
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  ClockControl clock;            // TEST CLOCK: stops and moves the clock
  NamedSnapshots snapshots;      // TEST SNAPSHOT: earlier states of the server
  RequestJournal journal;        // TEST JOURNAL: the latest requests
  Awaits awaits;                 // TEST AWAIT: clients that wait for a state of the server
  FaultRules faults;             // TEST FAULT: rules that make requests, connections or disk operations fail
  Lint lint;                     // TEST LINT: finds requests that would cause trouble in production
  MissingFeatures missing;       // TEST MISSING: features that clients used and this server lacks
  Shuffle shuffle;               // TEST SHUFFLE: shuffles the elements of replies that have no specified order
  Worlds* worlds = nullptr;      // TEST WORLD: isolated servers in this process; null: not available
  Restarts* restarts = nullptr;  // TEST CRASH: kills and restarts servers; null: not available
  NodeGroup* group = nullptr;    // TEST CLUSTER: the nodes of a cluster in this process; null: not available
};

}  // namespace respite
