// A chart as one HTML file that contains its styles, script and data, so that the browser loads nothing else. The
// script draws only the visible rows, so that a chart with very many rows stays usable.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

std::string HtmlReport(const Chart& chart);  // the text of an HTML file. Cost: O(rows + locks)

}  // namespace respite
