// A chart as one file of HTML that needs nothing else: styles, a script and the data are within it, and a browser may
// load nothing from elsewhere. The script draws the rows that are in sight, so long journals stay usable.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

// Cost: O(rows + locks).
std::string HtmlReport(const Chart& chart);

}  // namespace respite
