// A chart as plain text, for terminals and the output of failed tests. Each row is a line. Bars at the left of a
// client's column show its locks. A few clients have wide columns, more clients have a letter each, and with very many
// clients each line names its client.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

// The text is valid UTF-8. Rows have at most 120 columns, but the summary, the list of clients and the lines about
// locks may be longer. With more than 24 clients, there are no columns for clients, and each row names its client.
// Cost: O(locks + rows · min(clients, 24)).
std::string TextReport(const Chart& chart);  // the chart as plain text, for terminals and the output of failed tests

}  // namespace respite
