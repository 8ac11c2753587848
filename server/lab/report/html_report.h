// A chart as one self-contained HTML file with styles, script and data. The browser may load nothing from elsewhere.
// The script draws only the visible rows, which keeps long journals usable.
#pragma once

#include <string>

#include "server/lab/report/chart.h"

namespace respite {

std::string HtmlReport(const Chart& chart);  // the text of an HTML file. Cost: O(rows + locks)

}  // namespace respite
