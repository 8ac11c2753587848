// TEST REPORT.
#include "server/commands/families.h"
#include "server/commands/test/condition_words.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"
#include "server/lab/report/chart.h"
#include "server/lab/report/html_report.h"
#include "server/lab/report/text_report.h"

namespace respite {

namespace {

constexpr size_t kUsualLast = 10'000;
constexpr size_t kMostLast = 100'000;

struct TestReport {
  static constexpr CommandSpec spec =
      TestSpec("TEST|REPORT form(HTML|TEXT) [filter:string...] [LAST entries:integer]",
               "Shows the journal as a sequence chart: clients as columns, locks as bars, time downwards.");
  static void Run(Call& call) {
    const bool is_html = call.args.TakeToken("HTML");
    if (!is_html && !call.args.TakeToken("TEXT")) RefuseWord(call.args.Next(), "form of a report", "HTML or TEXT");
    JournalFilter filter;
    while (TakeCondition(call.args, call.services.env.commands, filter)) {
    }
    size_t last = kUsualLast;
    if (call.args.TakeToken("LAST")) {
      last = static_cast<size_t>(NumberIn(ValueOf(call.args, "LAST"), "number of entries", {1, int64_t{kMostLast}}));
    }
    if (!call.args.AtEnd()) {
      throw Refusal{"ERR " + Shown(call.args.Rest()[0]) + " is not understood here. There are " + kConditions +
                    ", OUTCOME and SINCE, and LAST behind them"};
    }
    const RequestJournal& journal = call.services.lab.journal;
    if (!journal.HasBegun()) throw Refusal{kNoJournal};
    const Chart chart = MakeChart(journal, filter, last);
    call.reply.Bulk(is_html ? HtmlReport(chart) : TextReport(chart));
  }
};

constexpr auto kTestReportCommands = Family<TestReport>();

}  // namespace

std::span<const CommandCard> TestReportCommands() { return kTestReportCommands; }

}  // namespace respite
