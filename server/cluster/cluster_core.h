// ClusterCore: references that all parts of this folder share.
#pragma once

#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "server/cluster/bus_clock.h"
#include "server/cluster/cluster_host.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"
#include "server/net/link.h"

namespace respite {

struct ClusterCore {
  const Settings& settings;
  const BusClock& clock;
  Logger& log;
  Random& random;
  const LateBound<Network>& network;
  ClusterHost& host;
  ClusterView& view;

  int64_t NowMs() const { return clock.NowMs(); }
  int64_t TimeoutMs() const { return settings.cluster_node_timeout; }
};

}  // namespace respite
