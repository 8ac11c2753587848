// TEST JOURNAL records requests in a journal. TEST EXPECT checks the recorded requests, and TEST REPORT shows them as a
// chart.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "server/commands/families.h"
#include "server/commands/test/condition_words.h"
#include "server/commands/test/test_words.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/execution/call.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"
#include "server/lab/report/chart.h"
#include "server/lab/report/html_report.h"
#include "server/lab/report/text_report.h"
#include "server/lab/request_text.h"

namespace respite {

namespace {

constexpr size_t kShownMost = 10;  // entries in an error text

RequestJournal& JournalOf(Call& call) { return call.services.lab.journal; }

RequestJournal& BegunJournal(Call& call) {
  if (!JournalOf(call).HasBegun()) throw Refusal{kNoJournal};
  return JournalOf(call);
}

JournalFilter TakeJournalFilter(Call& call) {
  JournalFilter filter;
  while (TakeCondition(call.args, call.services.env.commands, filter)) {
  }
  return filter;
}

void ExpectNoMore(const Args& args, const std::string& expected) {
  if (args.AtEnd()) return;
  throw Refusal{"ERR " + QuotedForError(args.Rest()[0]) + " is not understood here. There are " + kConditions +
                ", OUTCOME and SINCE" + expected};
}

// --- TEST JOURNAL

void StartJournal(Call& call) {
  size_t last = RequestJournal::kDefaultCapacity;
  if (call.args.TakeToken("LAST")) {
    const Bytes word = TakeValueOf(call.args, "LAST");
    last =
        static_cast<size_t>(ParseNumberInRange(word, "number of entries", {1, int64_t{RequestJournal::kMaxCapacity}}));
  }
  call.args.ExpectEnd();
  const Services& services = call.services;
  if (services.env.settings.maxmemory != 0 && services.data.eviction.LacksMemory())
    throw Refusal{refusals::kOutOfMemory};
  JournalOf(call).Start(last);
  call.reply.Ok();
}

const char* WithinOf(const RequestEntry& entry) {
  if (entry.place == RequestFaults::Place::kInScript) return entry.is_in_transaction ? "script, transaction" : "script";
  return entry.is_in_transaction ? "transaction" : "";
}

void ShowKeys(Call& call, const RequestEntry& entry, std::span<const Bytes> words) {
  if (entry.command == nullptr) return call.reply.Array(0);
  const KeyList keys = KeysForAclCheck(entry.command->Spec(), words);
  call.reply.Array(keys.Size());
  for (const KeyRef& key : keys) call.reply.Bulk(words[key.index]);
}

void ShowEntry(Call& call, const RequestEntry& entry) {
  const auto number = [&call](Bytes name, int64_t value) {
    call.reply.Bulk(name);
    call.reply.Integer(value);
  };
  const auto text = [&call](Bytes name, Bytes value) {
    call.reply.Bulk(name);
    call.reply.Bulk(value);
  };
  const std::vector<Bytes> words = entry.Words();
  call.reply.Map(14);
  number("seq", static_cast<int64_t>(entry.seq));
  number("time", entry.wall_us / 1000);
  number("duration", entry.duration_us);
  number("id", static_cast<int64_t>(entry.client->id));
  text("name", entry.client->name);
  text("lib", entry.client->library);
  text("addr", entry.client->address);
  text("user", entry.client->user);
  number("db", entry.db);
  text("command", entry.command == nullptr ? "" : entry.command->full_name);
  call.reply.Bulk("words");
  call.reply.Array(words.size());
  for (const Bytes word : words) call.reply.Bulk(word);
  call.reply.Bulk("keys");
  ShowKeys(call, entry, words);
  text("outcome", entry.OutcomeText());
  text("within", WithinOf(entry));
}

void GetEntries(Call& call) {
  const JournalFilter filter = TakeJournalFilter(call);
  size_t most = RequestJournal::kMaxCapacity;
  if (call.args.TakeToken("COUNT")) {
    const Bytes word = TakeValueOf(call.args, "COUNT");
    most =
        static_cast<size_t>(ParseNumberInRange(word, "number of entries", {0, int64_t{RequestJournal::kMaxCapacity}}));
  }
  ExpectNoMore(call.args, ", and COUNT behind them");
  std::vector<const RequestEntry*> found;
  BegunJournal(call).ForEach(filter, [&found](const RequestEntry& entry) { found.push_back(&entry); });
  const size_t shown = std::min(found.size(), most);
  call.reply.Array(shown);
  for (const RequestEntry* entry : std::span(found).last(shown)) ShowEntry(call, *entry);
}

void CountEntries(Call& call) {
  const JournalFilter filter = TakeJournalFilter(call);
  ExpectNoMore(call.args, "");
  call.reply.Integer(static_cast<int64_t>(BegunJournal(call).Count(filter)));
}

void ClearJournal(Call& call) {
  call.args.ExpectEnd();
  BegunJournal(call).Clear();
  call.reply.Ok();
}

void StopJournal(Call& call) {
  call.args.ExpectEnd();
  BegunJournal(call).Stop();
  call.reply.Ok();
}

constexpr std::array kJournalActions = {TestAction{"start", StartJournal}, TestAction{"get", GetEntries},
                                        TestAction{"count", CountEntries}, TestAction{"clear", ClearJournal},
                                        TestAction{"stop", StopJournal}};

// --- TEST EXPECT

// Lists for TEST EXPECT the last 10 entries in one line, because an error reply cannot have several lines.
std::string Listed(const std::vector<const RequestEntry*>& entries) {
  std::string text;
  const size_t skipped = entries.size() - std::min(entries.size(), kShownMost);
  if (skipped != 0) StrAppend(text, " | ... ", skipped, " before them");
  for (const RequestEntry* entry : std::span(entries).subspan(skipped)) text += " | " + entry->Line();
  return text;
}

std::string LastOnes(const RequestJournal& journal, uint64_t from) {
  std::vector<const RequestEntry*> all;
  for (uint64_t seq = std::max(from, journal.FirstSeq()); seq < journal.NextSeq(); ++seq)
    all.push_back(&journal.At(seq));
  return all.empty() ? std::string(" nothing") : Listed(all);
}

// Replies with an error that begins with EXPECT. Replaces line breaks in the text, because an error reply has only one
// line.
void FailExpectation(Call& call, std::string text) {
  for (char& c : text) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  call.reply.Error("EXPECT " + text);
}

struct Bounds {
  uint64_t least = 0;
  uint64_t most = UINT64_MAX;
  std::string text;
};

std::optional<Bounds> TakeBounds(Args& args) {
  const auto number = [&args](Bytes word) {
    return static_cast<uint64_t>(ParseNumberInRange(TakeValueOf(args, word), "number of times", {0, INT64_MAX}));
  };
  if (args.TakeToken("NONE")) return Bounds{0, 0, "none"};
  if (args.TakeToken("TIMES")) {
    const uint64_t times = number("TIMES");
    return Bounds{times, times, StrCat("exactly ", times)};
  }
  if (args.TakeToken("AT-LEAST")) {
    const uint64_t least = number("AT-LEAST");
    return Bounds{least, UINT64_MAX, StrCat("at least ", least)};
  }
  if (!args.TakeToken("AT-MOST")) return std::nullopt;
  const uint64_t most = number("AT-MOST");
  return Bounds{0, most, StrCat("at most ", most)};
}

void ExpectCount(Call& call) {
  const auto before = call.args.Rest();
  const JournalFilter filter = TakeJournalFilter(call);
  const std::string what = ConditionText(before.first(before.size() - call.args.Left()));
  const auto bounds = TakeBounds(call.args);
  ExpectNoMore(call.args, "; behind them TIMES n, NONE, AT-LEAST n or AT-MOST n");
  if (!bounds) throw Refusal{"ERR how often is missing. Write TIMES n, NONE, AT-LEAST n or AT-MOST n"};
  const RequestJournal& journal = BegunJournal(call);
  std::vector<const RequestEntry*> found;
  journal.ForEach(filter, [&found](const RequestEntry& entry) { found.push_back(&entry); });
  // TEST EXPECT throws a Refusal if the journal has dropped entries, because these may have matched too, so that
  // `found` is too small. It does not throw if more matches would not change the result.
  const bool is_surely_too_much = found.size() > bounds->most;
  const bool is_surely_enough = bounds->most == UINT64_MAX && found.size() >= bounds->least;
  if (!is_surely_too_much && !is_surely_enough) RequireCompleteJournal(journal, filter);
  if (found.size() >= bounds->least && found.size() <= bounds->most) return call.reply.Ok();
  const std::string wanted = StrCat("wanted ", bounds->text, " of [", what, "], saw ", found.size());
  if (!found.empty()) return FailExpectation(call, wanted + ":" + Listed(found));
  FailExpectation(call, wanted + ". The journal has:" + LastOnes(journal, filter.since.value_or(0)));
}

void ExpectSequence(Call& call) {
  struct Step {
    JournalFilter filter;
    std::string text;
  };
  std::vector<Step> steps;
  do {
    const auto before = call.args.Rest();
    JournalFilter filter = TakeJournalFilter(call);
    const auto taken = before.first(before.size() - call.args.Left());
    if (taken.empty()) throw Refusal{std::string("ERR a step of SEQUENCE needs a condition. There are ") + kConditions};
    steps.push_back({std::move(filter), ConditionText(taken)});
  } while (call.args.TakeToken("THEN"));
  ExpectNoMore(call.args, "; THEN begins the next step");
  const RequestJournal& journal = BegunJournal(call);
  RequireCompleteJournal(journal, steps.front().filter);
  std::vector<const RequestEntry*> found;
  uint64_t seq = journal.FirstSeq();
  for (const Step& step : steps) {
    while (seq < journal.NextSeq() && !step.filter.Matches(journal.At(seq))) ++seq;
    if (seq < journal.NextSeq()) {
      found.push_back(&journal.At(seq++));
      continue;
    }
    const std::string number = std::to_string(found.size() + 1);
    const uint64_t behind = found.empty() ? 0 : found.back()->seq + 1;
    return FailExpectation(
        call, StrCat("wanted step ", number, " of ", steps.size(), " [", step.text, "]",
                     found.empty() ? ". The journal has:" : " behind" + Listed(found) + " . Behind it came:",
                     LastOnes(journal, behind)));
  }
  call.reply.Ok();
}

void ExpectRoundTrips(Call& call) {
  if (!call.args.TakeToken("AT-MOST")) throw Refusal{"ERR write ROUNDTRIPS AT-MOST n"};
  const auto most = static_cast<uint64_t>(
      ParseNumberInRange(TakeValueOf(call.args, "AT-MOST"), "number of round trips", {0, INT64_MAX}));
  const auto conditions = call.args.Rest();
  JournalFilter filter;
  filter.request.client = TakeClientFilter(call.args);
  const RequestJournal& journal = BegunJournal(call);
  uint64_t round_trips = 0;
  std::vector<const RequestEntry*> found;
  journal.ForEach(filter, [&](const RequestEntry& entry) {
    round_trips += entry.round_trips;
    if (entry.round_trips != 0) found.push_back(&entry);
  });
  if (round_trips <= most) RequireCompleteJournal(journal, filter);
  if (round_trips <= most) return call.reply.Ok();
  const std::string clients = conditions.empty() ? "" : " of [" + ConditionText(conditions) + "]";
  FailExpectation(call, StrCat("wanted at most ", most, " round trips", clients, ", saw ", round_trips,
                               ", which began with:", Listed(found)));
}

struct TestJournal {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|JOURNAL action(start{START [LAST entries:integer]}|get{GET [get-filter<filter>:string...] [COUNT "
      "count:integer]}|count-of{COUNT [count-filter<filter>:string...]}|CLEAR|STOP)",
      "Records all requests as they run, and shows and counts them.");
  static void Run(Call& call) { RunTestAction(call, kJournalActions); }
};

struct TestExpect {
  static constexpr CommandSpec spec =
      TestSpec("TEST|EXPECT expectation:string...",
               "Replies OK if the journal meets an expectation, otherwise with an error that shows its entries.");
  static void Run(Call& call) {
    if (call.args.TakeToken("SEQUENCE")) return ExpectSequence(call);
    if (call.args.TakeToken("ROUNDTRIPS")) return ExpectRoundTrips(call);
    ExpectCount(call);
  }
};

constexpr size_t kDefaultCapacity = 10'000;
constexpr size_t kMaxCapacity = 100'000;

struct TestReport {
  static constexpr CommandSpec spec =
      TestSpec("TEST|REPORT form(HTML|TEXT) [filter:string...] [LAST entries:integer]",
               "Shows the journal as a sequence chart: clients as columns, locks as bars, time downwards.");
  static void Run(Call& call) {
    const bool is_html = call.args.TakeToken("HTML");
    if (!is_html && !call.args.TakeToken("TEXT")) RefuseArgument(call.args.Next(), "form of a report", "HTML or TEXT");
    JournalFilter filter;
    while (TakeCondition(call.args, call.services.env.commands, filter)) {
    }
    size_t last = kDefaultCapacity;
    if (call.args.TakeToken("LAST")) {
      last = static_cast<size_t>(
          ParseNumberInRange(TakeValueOf(call.args, "LAST"), "number of entries", {1, int64_t{kMaxCapacity}}));
    }
    if (!call.args.AtEnd()) {
      throw Refusal{"ERR " + QuotedForError(call.args.Rest()[0]) + " is not understood here. There are " + kConditions +
                    ", OUTCOME and SINCE, and LAST behind them"};
    }
    const RequestJournal& journal = call.services.lab.journal;
    if (!journal.HasBegun()) throw Refusal{kNoJournal};
    const Chart chart = MakeSequenceChart(journal, filter, last);
    call.reply.Bulk(is_html ? HtmlReport(chart) : TextReport(chart));
  }
};

constexpr auto kTestJournalCommands = Family<TestExpect, TestJournal, TestReport>();

}  // namespace

std::span<const CommandCard> TestJournalCommands() { return kTestJournalCommands; }

}  // namespace respite
