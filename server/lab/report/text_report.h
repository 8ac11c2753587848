// Writes a chart (TEST REPORT) as plain text, for terminals and the output of failed tests. Each row of the chart is a
// line. Bars at the left of a client's column show the client's locks. A few clients get wide columns with their
// requests. More clients get narrow columns, named by letters. With more than 24 clients, each line names its client.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

// Returns valid UTF-8. Lines for rows are at most 120 columns wide, but the summary, the list of clients and the lines
// about locks may be longer. With more than 24 clients, there are no columns for clients, and each row names its
// client. Cost: O(locks + rows · min(clients, 24)).
std::string TextReport(const Chart& chart);  // the chart as plain text, for terminals and the output of failed tests

}  // namespace respite
