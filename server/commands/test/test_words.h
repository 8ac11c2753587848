// Helpers for the subcommands of TEST: their spec, the parsing of arguments, actions, and map replies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "protocol/reply.h"
#include "server/catalogue/command_spec.h"
#include "server/execution/args.h"
#include "server/execution/call.h"
#include "server/lab/request_owner.h"

namespace respite {

// Returns the spec of a subcommand of TEST. All of them are refused in transactions, in scripts and while data is
// loaded, because most of them act on the whole server.
constexpr CommandSpec TestSpec(std::string_view syntax, std::string_view summary, Where where = Where::kDataServers) {
  return {.syntax = syntax,
          .where = where,
          .summary = summary,
          .group = CommandGroup::kServer,
          .flags = kAdmin | kNoScript | kNoMulti | kNoAsyncLoading | kStale | kProtected | kSkipMonitor | kSkipSlowlog,
          .protection = Protection::kTestCommands};
}

// Parses `250`, `250ms`, `30s`, `5m`, `2h` or `7d`. Returns milliseconds. Throws a Refusal that lists these forms.
int64_t DurationMs(Bytes word);
// Parses a time in Unix milliseconds. Throws a Refusal that says so.
int64_t TimeMs(Bytes word);
// Parses ON or OFF.
bool OnOrOff(Bytes word);
bool YesOrNo(Bytes word);

// Quotes and shortens a word for an error text.
std::string Shown(Bytes word);
[[noreturn]] void RefuseWord(Bytes word, const std::string& what, const std::string& instead);

// Takes the value after an argument like COMMAND or TIMES.
Bytes ValueOf(Args& args, Bytes word);

struct Range {
  int64_t least;
  int64_t most;
};
int64_t NumberIn(Bytes word, const std::string& what, Range range);

template <class Value>
void SetOnce(std::optional<Value>& place, Bytes word, Value value) {
  if (place) throw Refusal{"ERR " + ToUpper(word) + " is given twice"};
  place = std::move(value);
}

// An action of TEST SNAPSHOT, TEST WORLD or TEST FAULT.
struct TestAction {
  Bytes name;
  void (*run)(Call&);
};

// Runs the action that the next argument names. Refuses an unknown name.
void RunTestAction(Call& call, std::span<const TestAction> actions);

// Writes a map reply, field by field.
class ReplyFields {
 public:
  static constexpr size_t kOfClient = 5;  // fields that Client writes

  ReplyFields(Reply& reply, size_t fields) : reply_(reply) { reply_.Map(fields); }
  ReplyFields& Text(Bytes name, Bytes value) {
    reply_.Bulk(name);
    reply_.Bulk(value);
    return *this;
  }
  ReplyFields& Number(Bytes name, int64_t value) {
    reply_.Bulk(name);
    reply_.Integer(value);
    return *this;
  }
  ReplyFields& Client(const RequestOwner& client) {
    Number("id", static_cast<int64_t>(client.id));
    return Text("name", client.name).Text("lib", client.library).Text("addr", client.address).Text("user", client.user);
  }

 private:
  Reply& reply_;
};

}  // namespace respite
