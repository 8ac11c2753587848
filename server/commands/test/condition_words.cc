#include "server/commands/test/condition_words.h"

#include <array>

#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/commands/test/test_words.h"

namespace respite {

namespace {

constexpr char kClientConditions[] = "CLIENT, ID, USER, ADDR, DB and LIB";

// The name of a condition, such as CLIENT or KEY, and the argument after it.
struct GivenCondition {
  Bytes word;
  Bytes value;
};

// --- Conditions for clients.

struct ClientCondition {
  Bytes name;
  void (*take)(const GivenCondition& given, ClientFilter& filter);
};

template <std::optional<TextPattern> ClientFilter::*kPart>
void TakePattern(const GivenCondition& given, ClientFilter& filter) {
  SetOnce(filter.*kPart, given.word, TextPattern(given.value));
}

constexpr std::array kOfClients = {
    ClientCondition{"client", TakePattern<&ClientFilter::name>},
    ClientCondition{"user", TakePattern<&ClientFilter::user>},
    ClientCondition{"addr", TakePattern<&ClientFilter::address>},
    ClientCondition{"lib", TakePattern<&ClientFilter::library>},
    ClientCondition{"id",
                    [](const GivenCondition& given, ClientFilter& filter) {
                      const int64_t id = ParseNumberInRange(given.value, "client id", {1, INT64_MAX});
                      SetOnce(filter.id, given.word, static_cast<uint64_t>(id));
                    }},
    ClientCondition{"db",
                    [](const GivenCondition& given, ClientFilter& filter) {
                      const int64_t db = ParseNumberInRange(given.value, "database", {0, INT32_MAX});
                      SetOnce(filter.db, given.word, static_cast<int>(db));
                    }},
};

// --- Conditions for requests.

uint32_t Category(Bytes word) {
  const uint32_t category = AclCategoryByName(word.starts_with('@') ? word.substr(1) : word);
  if (category != 0) return category;
  RefuseArgument(word, "category of commands", "@write or another that ACL CAT shows");
}

// Parses a pattern for command names. Refuses a pattern that matches no command, because it is probably a typing error.
TextPattern CommandFilter(Bytes pattern, const CommandTable& commands) {
  RequestFilter filter;
  filter.command = TextPattern(pattern, CaseMode::kIgnore);
  bool has_any = false;
  commands.ForEach([&](const Command& command) { has_any = has_any || filter.MayMatch(command); });
  if (has_any) return *filter.command;
  RefuseArgument(pattern, "command of this server", "a name or a glob, a subcommand as CLIENT|LIST");
}

struct RequestCondition {
  Bytes name;
  void (*take)(const GivenCondition& given, const CommandTable& commands, RequestFilter& filter);
};

constexpr std::array kOfRequests = {
    RequestCondition{"command",
                     [](const GivenCondition& given, const CommandTable& commands, RequestFilter& filter) {
                       SetOnce(filter.command, given.word, CommandFilter(given.value, commands));
                     }},
    RequestCondition{"category",
                     [](const GivenCondition& given, const CommandTable&, RequestFilter& filter) {
                       if (filter.category != 0) throw Refusal{"ERR CATEGORY is given twice"};
                       filter.category = Category(given.value);
                     }},
    RequestCondition{"key", [](const GivenCondition& given, const CommandTable&,
                               RequestFilter& filter) { SetOnce(filter.key, given.word, TextPattern(given.value)); }},
    RequestCondition{"script",
                     [](const GivenCondition& given, const CommandTable&, RequestFilter& filter) {
                       SetOnce(filter.is_in_script, given.word, ParseYesNo(given.value));
                     }},
    RequestCondition{"transaction",
                     [](const GivenCondition& given, const CommandTable&, RequestFilter& filter) {
                       SetOnce(filter.is_in_transaction, given.word, ParseYesNo(given.value));
                     }},
};

// --- Parsing.

// Finds the row of `rows`, a table of conditions, whose name is the next argument. Returns null if there is none.
template <class Rows>
const typename Rows::value_type* RowFor(const Args& args, const Rows& rows) {
  if (args.AtEnd()) return nullptr;
  for (const auto& row : rows) {
    if (EqualsIgnoreCase(args.Rest()[0], row.name)) return &row;
  }
  return nullptr;
}

GivenCondition Take(Args& args) {
  const Bytes word = args.Next();
  return {word, TakeValueOf(args, word)};
}

bool TakeClientCondition(Args& args, ClientFilter& filter) {
  const ClientCondition* const row = RowFor(args, kOfClients);
  if (row == nullptr) return false;
  row->take(Take(args), filter);
  return true;
}

}  // namespace

bool TakeCondition(Args& args, const CommandTable& commands, RequestFilter& filter) {
  const RequestCondition* const row = RowFor(args, kOfRequests);
  if (row == nullptr) return TakeClientCondition(args, filter.client);
  row->take(Take(args), commands, filter);
  return true;
}

bool TakeCondition(Args& args, const CommandTable& commands, JournalFilter& filter) {
  const auto is_next = [&args](Bytes name) { return !args.AtEnd() && EqualsIgnoreCase(args.Rest()[0], name); };
  if (is_next("outcome")) {
    const GivenCondition given = Take(args);
    SetOnce(filter.outcome, given.word, TextPattern(given.value));
    return true;
  }
  if (!is_next("since")) return TakeCondition(args, commands, filter.request);
  const GivenCondition given = Take(args);
  const int64_t since = ParseNumberInRange(given.value, "number of an entry", {0, INT64_MAX});
  SetOnce(filter.since, given.word, static_cast<uint64_t>(since));
  return true;
}

ClientFilter TakeClientFilter(Args& args) {
  ClientFilter filter;
  while (!args.AtEnd()) {
    if (TakeClientCondition(args, filter)) continue;
    throw Refusal{"ERR " + QuotedForError(args.Rest()[0]) + " is no condition for clients. There are " +
                  kClientConditions};
  }
  return filter;
}

void RequireCompleteJournal(const RequestJournal& journal, const JournalFilter& filter) {
  if (journal.DroppedCount() == 0 || filter.since.value_or(0) >= journal.FirstSeq()) return;
  throw Refusal{StrCat("ERR the journal has lost its first ", journal.DroppedCount(),
                       " entries. Keep more with TEST JOURNAL START LAST n, or ask SINCE ", journal.FirstSeq())};
}

}  // namespace respite
