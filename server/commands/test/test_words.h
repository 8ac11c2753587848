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

// Returns the CommandSpec of a subcommand of TEST. The spec forbids the subcommand in transactions, in scripts and
// while data is being loaded, because most subcommands act on the whole server.
constexpr CommandSpec TestSpec(std::string_view syntax,  // the spec of a subcommand of TEST
                               std::string_view summary, Where where = Where::kDataServers) {
  return {.syntax = syntax,
          .where = where,
          .summary = summary,
          .group = CommandGroup::kServer,
          .flags = kAdmin | kNoScript | kNoMulti | kNoAsyncLoading | kStale | kProtected | kSkipMonitor | kSkipSlowlog,
          .protection = Protection::kTestCommands};
}

int64_t ParseDurationArgumentMs(Bytes word);  // parses `250` or `250ms`, `30s`, `5m`, `2h`, `7d`; or throws a Refusal
int64_t ParseTimeArgumentMs(Bytes word);      // parses a Unix time in milliseconds; throws a Refusal for other text
bool ParseOnOff(Bytes word);                  // parses ON (true) or OFF; throws a Refusal for other text
bool ParseYesNo(Bytes word);                  // parses YES (true) or NO; throws a Refusal for other text

std::string QuotedForError(Bytes word);  // the argument, quoted and shortened for an error text
// Throws a Refusal: the argument `word` is no `what`, and the user should write `instead`.
[[noreturn]] void RefuseArgument(Bytes word,  // throws: `word` is no `what`, and `instead` tells what to write
                                 const std::string& what, const std::string& instead);

Bytes TakeValueOf(Args& args, Bytes word);  // takes the next argument, the value of the option `word`; throws if absent

struct Range {  // a range of permitted numbers, both ends included
  int64_t min;
  int64_t max;
};
int64_t ParseNumberInRange(Bytes word, const std::string& what,  // throws if `word` is no number in the range
                           Range range);

template <class Value>
void SetOnce(std::optional<Value>& place, Bytes word, Value value) {  // sets `place`; throws if it was set before
  if (place) throw Refusal{"ERR " + ToUpper(word) + " is given twice"};
  place = std::move(value);
}

struct TestAction {  // an action of a subcommand of TEST, such as ADD, and its function
  Bytes name;
  void (*run)(Call&);
};

void RunTestAction(Call& call, std::span<const TestAction> actions);  // runs the action that the next argument names

class ReplyFields {  // writes a map reply, field by field
 public:
  static constexpr size_t kClientFields = 5;  // number of fields that Client writes

  ReplyFields(Reply& reply, size_t fields) : reply_(reply) { reply_.Map(fields); }
  ReplyFields& Text(Bytes name, Bytes value) {  // writes a field with a text
    reply_.Bulk(name);
    reply_.Bulk(value);
    return *this;
  }
  ReplyFields& Number(Bytes name, int64_t value) {  // writes a field with a number
    reply_.Bulk(name);
    reply_.Integer(value);
    return *this;
  }
  ReplyFields& Client(const RequestOwner& client) {  // writes the fields id, name, lib, addr and user
    Number("id", static_cast<int64_t>(client.id));
    return Text("name", client.name).Text("lib", client.library).Text("addr", client.address).Text("user", client.user);
  }

 private:
  Reply& reply_;  // the reply to which the map is written
};

}  // namespace respite
