// The page around the data of an HtmlReport.
#pragma once

#include "base/bytes.h"

namespace respite {

struct HtmlPage {
  Bytes head;  // up to the summary
  Bytes tail;  // after the data: the script
};
HtmlPage TheHtmlPage();

}  // namespace respite
