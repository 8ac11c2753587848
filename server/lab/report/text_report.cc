#include "server/lab/report/text_report.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "server/lab/report/chart_text.h"
#include "server/lab/report/shown_text.h"

namespace respite {

namespace {

constexpr size_t kWidth = 120;
constexpr size_t kTimeWidth = 12;
constexpr size_t kMinColumn = 24;   // narrower columns are not readable
constexpr size_t kMaxCharted = 24;  // clients that get a column or a letter
constexpr size_t kMaxTextRequestBytes = 200;

// Returns the letter that stands for a client's column: A for column 0.
std::string LetterOf(size_t column) { return std::string(1, static_cast<char>('A' + column)); }

std::string Padded(std::string text, size_t width) {
  const size_t taken = WidthOf(text);
  if (taken < width) text.append(width - taken, ' ');
  return text;
}

class TextWriter {
 public:
  explicit TextWriter(const Chart& chart) : chart_(chart) {
    for (const Chart::Column& column : chart_.columns) lanes_ = std::max(lanes_, column.lanes);
    shown_.resize(chart_.columns.size());
    const size_t columns = std::max<size_t>(chart_.columns.size(), 1);
    column_width_ = (kWidth - kTimeWidth) / columns;
    has_columns_ = column_width_ >= kMinColumn + lanes_ + 1;
  }

  std::string Write();

 private:
  void WriteHeads();
  void WriteLegend();
  void WriteRow(size_t number);
  void GoTo(size_t row);
  // Returns the bars at the left of a client's column. They show the locks that the client holds at the row that is
  // being written.
  std::string Bars(size_t column) const;
  // Returns whether the client of this column is blocked at the row that is being written.
  bool Waits(size_t column) const;
  std::string RowText(const Chart::Row& row) const;
  void AddLine(std::string line);

  // What one row shows of one client: a bar in each lane (for a lock that the client holds), and the height down to
  // which the client is blocked (waits_to).
  struct Shown {
    struct Bar {
      size_t from = 0;
      size_t to = 0;
    };
    std::array<Bar, Chart::kMaxLanes> bars{};
    size_t waits_to = 0;
  };

  const Chart& chart_;
  size_t lanes_ = 0;  // of the client with the most lanes
  size_t column_width_;
  bool has_columns_;
  std::vector<Shown> shown_;
  size_t middle_ = 0;  // height of the middle of the current row
  size_t next_lock_ = 0;
  size_t next_wait_ = 0;
  std::string out_;
};

void TextWriter::AddLine(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out_ += line;
  out_ += '\n';
}

std::string TextWriter::Write() {
  AddLine(SummaryText(chart_));
  if (chart_.rows.empty()) return std::move(out_);
  out_ += '\n';
  has_columns_ ? WriteHeads() : WriteLegend();
  for (size_t i = 0; i < chart_.rows.size(); ++i) WriteRow(i);
  if (chart_.locks.empty()) return std::move(out_);
  out_ += '\n';
  for (const Chart::Lock& lock : chart_.locks) {
    AddLine(ClientText(*lock.lock->holder) + " held " + KeyText(lock.lock->db, lock.lock->key) + ": " +
            EndText(*lock.lock));
  }
  return std::move(out_);
}

void TextWriter::WriteHeads() {
  std::string line = Padded("ms", kTimeWidth);
  for (const Chart::Column& column : chart_.columns) {
    line += std::string(lanes_ + 1, ' ') +
            Padded(Shortened(ClientText(*column.client), column_width_ - lanes_ - 2), column_width_ - lanes_ - 1);
  }
  AddLine(line);
}

// Writes a list of the clients with their letters. With more than kMaxCharted clients, writes nothing, because then
// each row names its client.
void TextWriter::WriteLegend() {
  if (chart_.columns.size() > kMaxCharted) return;
  for (size_t i = 0; i < chart_.columns.size(); ++i)
    AddLine(LetterOf(i) + "  " + ClientText(*chart_.columns[i].client));
  out_ += '\n';
  std::string line = Padded("ms", kTimeWidth);
  for (size_t i = 0; i < chart_.columns.size(); ++i) line += LetterOf(i) + " ";
  AddLine(line);
}

// Advances to a row of the chart. Adds to shown_ the locks that begin at or above the middle of this row, and the waits
// (of blocked clients) that begin above the middle. The locks and waits of a chart are sorted by their beginning.
void TextWriter::GoTo(size_t row) {
  middle_ = 2 * row + 1;
  for (; next_lock_ < chart_.locks.size() && chart_.locks[next_lock_].from <= middle_; ++next_lock_) {
    const Chart::Lock& lock = chart_.locks[next_lock_];
    Shown::Bar& bar = shown_[lock.column].bars[lock.lane];
    bar = {.from = lock.from, .to = std::max(bar.to, lock.to)};
  }
  for (; next_wait_ < chart_.waits.size() && chart_.waits[next_wait_].from < middle_; ++next_wait_) {
    const Chart::Wait& wait = chart_.waits[next_wait_];
    shown_[wait.column].waits_to = std::max(shown_[wait.column].waits_to, wait.to);
  }
}

std::string TextWriter::Bars(size_t column) const {
  std::string text(lanes_, ' ');
  for (size_t lane = 0; lane < lanes_; ++lane) {
    const Shown::Bar& bar = shown_[column].bars[lane];
    if (bar.to >= middle_) text[lane] = bar.from == middle_ ? '+' : bar.to == middle_ ? '-' : '|';
  }
  return text;
}

bool TextWriter::Waits(size_t column) const { return shown_[column].waits_to > middle_; }

std::string TextWriter::RowText(const Chart::Row& row) const {
  if (row.entry == nullptr) return "! " + ExpiredText(*row.expired);
  const std::string end = EndText(*row.entry);
  return std::string(static_cast<size_t>(row.level) * 2, ' ') + EntryText(*row.entry, kMaxTextRequestBytes) +
         (end.empty() ? "" : " -> " + end);
}

void TextWriter::WriteRow(size_t number) {
  GoTo(number);
  const Chart::Row& row = chart_.rows[number];
  std::string line = Padded(MillisecondsText(row.at_us), kTimeWidth);
  const std::string text = RowText(row);
  if (chart_.columns.size() > kMaxCharted) {
    const bool has_client = row.entry != nullptr;
    line += (has_client ? ClientText(*row.entry->client) + ": " : "") + text;
    return AddLine(Shortened(line, kWidth));
  }
  if (!has_columns_) {
    for (size_t i = 0; i < chart_.columns.size(); ++i) {
      const std::string bars = Bars(i);
      const auto bar = bars.find_first_not_of(' ');
      const char mark = row.column == i ? '*' : bar != std::string::npos ? bars[bar] : Waits(i) ? ':' : ' ';
      line += mark;
      line += ' ';
    }
    const std::string who = row.column == kNoColumn ? "" : LetterOf(row.column) + " ";
    return AddLine(Shortened(line + " " + who + text, kWidth));
  }
  for (size_t i = 0; i < chart_.columns.size(); ++i) {
    const bool is_here = row.column == i || (row.column == kNoColumn && i == 0);
    const size_t width = column_width_ - lanes_ - 1;
    // Text in the last column may use the rest of the line. Text in other columns is shortened to the column's width.
    const bool is_last = i + 1 == chart_.columns.size();
    std::string cell = is_here    ? Shortened(text, is_last ? kWidth - WidthOf(line) - lanes_ - 1 : width - 1)
                       : Waits(i) ? ":"
                                  : "";
    line += Bars(i) + " " + Padded(std::move(cell), is_last ? 0 : width);
  }
  AddLine(line);
}

}  // namespace

std::string TextReport(const Chart& chart) { return TextWriter(chart).Write(); }

}  // namespace respite
