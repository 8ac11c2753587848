// The text of CLUSTER INFO, which Valkey 9.1 also has as a section of INFO.
#pragma once

#include <string>

#include "server/catalogue/dialect.h"

namespace respite {

class Cluster;

std::string ClusterInfoText(const Cluster& cluster, const Dialect& dialect);  // lines "name:value" of CLUSTER INFO

}  // namespace respite
