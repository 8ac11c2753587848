// A chart as plain text, for terminals and the output of failed tests: a line for each row, with the bars of locks to
// the left of their clients. Few clients have columns of their own; more have a letter each, and many are named in each
// line.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

// Valid UTF-8; lines of 120 columns at most, with three clients or fewer. Cost: O(locks + rows · clients), with 24
// clients at most.
std::string TextReport(const Chart& chart);

}  // namespace respite
