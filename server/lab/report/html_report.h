// Writes a chart (TEST REPORT) as one HTML file. The file contains its styles, script and data, so that the browser
// loads nothing else. The script draws only the visible rows, so that a chart with very many rows stays usable.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

std::string HtmlReport(const Chart& chart);  // the chart as the content of an HTML file. Cost: O(rows + locks)

}  // namespace respite
