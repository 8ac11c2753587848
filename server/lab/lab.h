// Lab: what a test may do to the server that it uses (TEST). All of it is off, and costs nothing, unless the directive
// test-commands allows it.
#pragma once

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
  ClockControl clock;
  NamedSnapshots snapshots;
  RequestJournal journal;
  Awaits awaits;
  FaultRules faults;
  Lint lint;
  MissingFeatures missing;
  Shuffle shuffle;
  Worlds* worlds = nullptr;      // null: this server cannot have any
  Restarts* restarts = nullptr;  // null: it can only end
  NodeGroup* group = nullptr;    // null: it is alone, or has a thread of its own
};

}  // namespace respite
