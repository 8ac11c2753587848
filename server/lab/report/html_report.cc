#include "server/lab/report/html_report.h"

#include "base/str_cat.h"
#include "server/lab/report/chart_text.h"
#include "server/lab/report/shown_text.h"
#include "server/lab/report/text_report.h"

namespace respite {

// The content of report.html, which the build embeds. Its Content-Security-Policy lets the browser load nothing.
extern const Bytes kReportPage;

namespace {

constexpr Bytes kPlaceOfReport = "<!-- report -->\n";  // where the page gets the summary and the data
constexpr size_t kMaxHtmlRequestBytes = 400;

// Returns the letter that tells the script of the HTML page how to draw the row.
char RowLetter(const Chart::Row& row) {
  if (row.entry == nullptr) return 'x';  // a key expired
  switch (row.entry->outcome) {
    case RequestEntry::Outcome::kError:
      return 'e';
    case RequestEntry::Outcome::kBlocked:
      return 'b';
    case RequestEntry::Outcome::kFault:
      return 'f';
    case RequestEntry::Outcome::kOk:
      break;
  }
  return row.entry->lock == KeyHistory::LockAttempt::kMissed ? 'm' : 'o';
}

class JsonList {
 public:
  explicit JsonList(std::string& out) : out_(out) { out_ += '['; }
  JsonList(const JsonList&) = delete;
  JsonList& operator=(const JsonList&) = delete;
  ~JsonList() { out_ += ']'; }

  JsonList& Number(int64_t number) { return Raw(std::to_string(number)); }
  JsonList& Number(size_t number) { return Raw(std::to_string(number)); }
  JsonList& Text(Bytes text) { return Raw(JsonText(text)); }
  // Begins the next element of a JSON array. The caller must append the element to the returned string.
  std::string& Next() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    return out_;
  }

 private:
  JsonList& Raw(const std::string& element) {
    Next() += element;
    return *this;
  }

  std::string& out_;
  bool is_first_ = true;
};

void WriteColumns(const Chart& chart, std::string& out) {
  JsonList list(out);
  for (const Chart::Column& column : chart.columns) {
    const RequestOwner& client = *column.client;
    JsonList(list.Next())
        .Text(ClientText(client))
        .Text(PlainText(client.library))
        .Text(PlainText(client.address))
        .Number(column.lanes);
  }
}

void WriteRows(const Chart& chart, std::string& out) {
  JsonList list(out);
  for (const Chart::Row& row : chart.rows) {
    const bool is_request = row.entry != nullptr;
    const char kind = RowLetter(row);
    JsonList(list.Next())
        .Number(row.at_us)
        .Number(row.column == kNoColumn ? int64_t{-1} : static_cast<int64_t>(row.column))
        .Text(Bytes(&kind, 1))
        .Number(int64_t{row.level})
        .Text(is_request ? EntryText(*row.entry, kMaxHtmlRequestBytes) : ExpiredText(*row.expired))
        .Text(is_request ? EndText(*row.entry) : "");
  }
}

void WriteLocks(const Chart& chart, std::string& out) {
  JsonList list(out);
  for (const Chart::Lock& lock : chart.locks) {
    const LockRecord& held = *lock.lock;
    const std::string prolong_count =
        held.prolong_count == 0 ? "" : StrCat(", prolonged ", held.prolong_count, " times");
    const bool is_over_by_itself = held.end == LockRecord::End::kExpired || held.end == LockRecord::End::kEvicted;
    JsonList(list.Next())
        .Number(lock.column)
        .Number(lock.lane)
        .Number(lock.from)
        .Number(lock.to)
        .Text(KeyText(held.db, held.key))
        .Text(EndText(held) + prolong_count)
        .Number(int64_t{is_over_by_itself ? 1 : 0});
  }
}

void WriteWaits(const Chart& chart, std::string& out) {
  JsonList list(out);
  for (const Chart::Wait& wait : chart.waits) {
    JsonList(list.Next()).Number(wait.column).Number(wait.from).Number(wait.to);
  }
}

}  // namespace

std::string HtmlReport(const Chart& chart) {
  const size_t place = kReportPage.find(kPlaceOfReport);
  std::string out(kReportPage.substr(0, place));
  out += "<p class=\"summary\">" + HtmlText(SummaryText(chart)) + "</p>\n<noscript><pre>" +
         HtmlText(TextReport(chart)) + "</pre></noscript>\n<script id=\"data\" type=\"application/json\">{\"columns\":";
  WriteColumns(chart, out);
  out += ",\"rows\":";
  WriteRows(chart, out);
  out += ",\"locks\":";
  WriteLocks(chart, out);
  out += ",\"waits\":";
  WriteWaits(chart, out);
  out += "}</script>\n";
  out += kReportPage.substr(place + kPlaceOfReport.size());
  return out;
}

}  // namespace respite
