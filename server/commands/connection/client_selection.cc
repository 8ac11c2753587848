#include "server/commands/connection/client_selection.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/client_text.h"
#include "server/commands/common_arguments.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kClientIdPositive[] = "ERR client-id should be greater than 0";
Refusal NotSeconds(Bytes option) { return {"ERR " + ToLower(option) + " is not an integer or out of range"}; }
Refusal NoSeconds(Bytes option) { return {"ERR " + ToLower(option) + " should be greater than 0"}; }
Refusal NotDb(Bytes option) { return {"ERR " + std::string(option) + " is not an integer or out of range"}; }
Refusal NoSuchDb(Bytes option, int databases) {
  return {"ERR " + std::string(option) + " number should be between 0 and " + std::to_string(databases - 1)};
}
Refusal UnknownClientType(Bytes type) { return {"ERR Unknown client type '" + std::string(type) + "'"}; }
Refusal NoSuchUser(Bytes user) { return {"ERR No such user '" + std::string(user) + "'"}; }
Refusal UnknownLetters(Bytes what, Bytes option, Bytes letters) {
  const std::string filter = option.starts_with("NOT-") ? std::string(option) : "provided";
  return {"ERR Unknown " + std::string(what) + " found in the " + filter + " filter: " + std::string(letters)};
}

}  // namespace
}  // namespace refusals

namespace {

using ClientPredicate = ClientSelection::Condition;

// The option of CLIENT LIST or CLIENT KILL that is being parsed. `args` yields the arguments that follow the option.
struct OptionSource {
  Call& call;
  ClientSelectingCommand command;
  Bytes option = {};

  Args& args() { return call.args; }
};

struct SelectionOption {
  Bytes name;
  ClientPredicate (*take)(OptionSource& source);
};

bool IsOption(const Args& args, Bytes word);

uint64_t TakeId(OptionSource& source) {
  const bool lists = source.command == ClientSelectingCommand::kList;
  const DialectTraits& traits = source.call.services.env.dialect.traits;
  const auto id = ParseInteger(source.args().Next());
  if (!id) throw Refusal{std::string(lists ? traits.client_list_id_error : traits.client_kill_id_error)};
  const bool must_be_positive = lists ? traits.client_list_needs_positive_ids : traits.client_kill_needs_positive_ids;
  if (must_be_positive && *id < 1) throw Refusal{refusals::kClientIdPositive};
  return static_cast<uint64_t>(*id);
}

// Takes the IDs after the option ID. In older versions, CLIENT LIST takes IDs up to the last argument, and CLIENT KILL
// takes one ID. In newer versions, each of the two commands takes several IDs, after which other options may follow.
std::vector<uint64_t> TakeIds(OptionSource& source) {
  const bool lists = source.command == ClientSelectingCommand::kList;
  const DialectTraits& traits = source.call.services.env.dialect.traits;
  std::vector<uint64_t> ids;
  if (!traits.client_ids_are_a_set) ids.push_back(TakeId(source));
  if (!lists && !traits.client_kill_takes_many_ids) return ids;
  while (!source.args().AtEnd()) {
    const Bytes next = source.args().Rest().front();
    const bool is_id = lists ? !IsOption(source.args(), next) : ParseInteger(next).has_value();
    if (!is_id) break;
    ids.push_back(TakeId(source));
  }
  return ids;
}

std::vector<uint64_t> Joined(std::vector<uint64_t> ids, std::span<const uint64_t> more) {
  ids.insert(ids.end(), more.begin(), more.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());  // clang 14 cannot compile std::ranges::unique
  return ids;
}

ClientPredicate TakeIdCondition(OptionSource& source) {
  return [ids = Joined(TakeIds(source), {})](const Session& session) {
    return std::ranges::binary_search(ids, session.id);
  };
}

ClientPredicate IsOfKind(SessionKind kind) {
  return [kind](const Session& session) { return session.kind == kind; };
}

ClientPredicate TakeClientType(OptionSource& source) {
  const Bytes name = source.args().Next();
  if (EqualsIgnoreCase(name, "normal")) return IsOfKind(SessionKind::kNormal);
  if (EqualsIgnoreCase(name, "slave") || EqualsIgnoreCase(name, "replica")) return IsOfKind(SessionKind::kReplica);
  if (EqualsIgnoreCase(name, "pubsub")) return IsOfKind(SessionKind::kPubSub);
  const bool has_primary = source.call.services.env.dialect.Has("valkey:8.0.0");
  if (EqualsIgnoreCase(name, "master") || (has_primary && EqualsIgnoreCase(name, "primary")))
    return IsOfKind(SessionKind::kPrimary);
  throw refusals::UnknownClientType(name);
}

ClientPredicate TakeUser(OptionSource& source) {
  const Bytes name = source.args().Next();
  const User* const user = source.call.services.clients.users.Find(name);
  if (user == nullptr) throw refusals::NoSuchUser(name);
  return [user](const Session& session) { return session.user == user; };
}

int64_t TakeSeconds(OptionSource& source) {
  const auto seconds = ParseInteger(source.args().Next());
  if (!seconds) throw refusals::NotSeconds(source.option);
  if (*seconds < 1) throw refusals::NoSeconds(source.option);
  return *seconds;
}

ClientPredicate TakeMaxAge(OptionSource& source) {
  const int64_t now_ms = source.call.services.env.clock.MonotonicMs();
  return [now_ms, least = TakeSeconds(source)](const Session& session) {
    return (now_ms - session.usage.created_ms) / 1000 >= least;
  };
}

ClientPredicate TakeIdle(OptionSource& source) {
  const int64_t now_ms = source.call.services.env.clock.MonotonicMs();
  return [now_ms, least = TakeSeconds(source)](const Session& session) {
    return (now_ms - session.usage.last_active_ms) / 1000 >= least;
  };
}

bool HasAllOf(Bytes letters, Bytes wanted) {
  return std::ranges::all_of(wanted, [letters](char letter) { return letters.find(letter) != Bytes::npos; });
}

ClientPredicate TakeFlags(OptionSource& source) {
  const Bytes wanted = source.args().Next();
  if (!HasAllOf(kClientFlagLetters, wanted)) throw refusals::UnknownLetters("flags", source.option, wanted);
  return [wanted](const Session& session) { return HasAllOf(ClientFlags(session), wanted); };
}

ClientPredicate TakeCapabilities(OptionSource& source) {
  const Bytes wanted = source.args().Next();
  if (!HasAllOf("r", wanted)) throw refusals::UnknownLetters("capa", source.option, wanted);
  return [wanted](const Session& session) {
    return HasAllOf(session.identity.follows_redirects ? Bytes("r") : Bytes(), wanted);
  };
}

ClientPredicate TakeDb(OptionSource& source) {
  const auto db = ParseInteger(source.args().Next());
  const int databases = source.call.services.data.dataset.keyspace.Count();
  if (!db || *db != static_cast<int>(*db)) throw refusals::NotDb(source.option);
  if (*db < 0 || *db >= databases) throw refusals::NoSuchDb(source.option, databases);
  return [db = static_cast<int>(*db)](const Session& session) { return session.db == db; };
}

// Returns the client's address without its port.
Bytes IpOf(const Session& session) {
  const Bytes address = session.addresses.peer;
  return address.substr(0, std::min(address.rfind(':'), address.size()));
}

template <Bytes (*TextOf)(const Session&)>
ClientPredicate TakeTextPredicate(OptionSource& source) {
  return [text = source.args().Next()](const Session& session) { return TextOf(session) == text; };
}

Bytes PeerOf(const Session& session) { return session.addresses.peer; }
Bytes LocalOf(const Session& session) { return session.addresses.local; }
Bytes ClientNameOf(const Session& session) { return session.identity.name; }
Bytes LibraryOf(const Session& session) { return session.identity.lib_name; }
Bytes LibraryVersionOf(const Session& session) { return session.identity.lib_version; }

constexpr std::array<SelectionOption, 25> kSelectionOptions = {{
    {"TYPE", TakeClientType},
    {"USER", TakeUser},
    {"ADDR", TakeTextPredicate<PeerOf>},
    {"LADDR", TakeTextPredicate<LocalOf>},
    {"MAXAGE", TakeMaxAge},
    {"NAME", TakeTextPredicate<ClientNameOf>},
    {"IDLE", TakeIdle},
    {"FLAGS", TakeFlags},
    {"LIB-NAME", TakeTextPredicate<LibraryOf>},
    {"LIB-VER", TakeTextPredicate<LibraryVersionOf>},
    {"DB", TakeDb},
    {"CAPA", TakeCapabilities},
    {"IP", TakeTextPredicate<IpOf>},
    {"NOT-ID", TakeIdCondition},
    {"NOT-TYPE", TakeClientType},
    {"NOT-USER", TakeUser},
    {"NOT-ADDR", TakeTextPredicate<PeerOf>},
    {"NOT-LADDR", TakeTextPredicate<LocalOf>},
    {"NOT-NAME", TakeTextPredicate<ClientNameOf>},
    {"NOT-FLAGS", TakeFlags},
    {"NOT-LIB-NAME", TakeTextPredicate<LibraryOf>},
    {"NOT-LIB-VER", TakeTextPredicate<LibraryVersionOf>},
    {"NOT-DB", TakeDb},
    {"NOT-CAPA", TakeCapabilities},
    {"NOT-IP", TakeTextPredicate<IpOf>},
}};

const SelectionOption* FindOption(const Args& args, Bytes word) {
  const auto found = std::ranges::find_if(
      kSelectionOptions, [&args, word](const SelectionOption& each) { return args.IsToken(word, each.name); });
  return found == kSelectionOptions.end() ? nullptr : &*found;
}

bool IsOption(const Args& args, Bytes word) {
  return FindOption(args, word) != nullptr || args.IsToken(word, "ID") || args.IsToken(word, "SKIPME");
}

bool TakeSkipMe(Args& args) {
  if (args.TakeToken("YES")) return true;
  if (args.TakeToken("NO")) return false;
  throw Refusal{refusals::kSyntax};
}

ClientPredicate TakeOptionPredicate(const SelectionOption& option, OptionSource& source) {
  source.option = option.name;
  ClientPredicate condition = option.take(source);
  if (!option.name.starts_with("NOT-")) return condition;
  return [condition](const Session& session) { return !condition(session); };
}

void TakeOption(ClientSelection& filter, OptionSource& source) {  // NOLINT: part of TakeClientSelection
  Args& args = source.args();
  const bool is_set = source.call.services.env.dialect.traits.client_ids_are_a_set;
  if (args.TakeTokenWith("ID", is_set ? 0 : 1)) {
    std::vector<uint64_t> ids = TakeIds(source);
    if (is_set) ids = Joined(filter.ids.value_or(std::vector<uint64_t>()), ids);
    filter.ids = std::move(ids);
  } else if (args.TakeTokenWith("SKIPME", 1)) {
    filter.skips_caller = TakeSkipMe(args);
  } else {
    const SelectionOption* const option = args.Left() < 2 ? nullptr : FindOption(args, args.Next());
    if (option == nullptr) throw Refusal{refusals::kSyntax};
    filter.by_property[option->name] = TakeOptionPredicate(*option, source);
  }
}

}  // namespace

bool ClientSelection::Matches(const Session& session) const {
  return std::ranges::all_of(by_property, [&session](const auto& named) { return named.second(session); });
}

ClientSelection TakeClientSelection(Call& call, ClientSelectingCommand command) {
  ClientSelection filter;
  OptionSource source{call, command};
  // Refuses a single argument of CLIENT LIST or CLIENT KILL, which is an option without a value. (Valkey 8.1 accepts ID
  // without IDs, but only together with other options.)
  if (call.args.Left() == 1) throw Refusal{refusals::kSyntax};
  while (!call.args.AtEnd()) TakeOption(filter, source);
  return filter;
}

ClientSelection ClientsFrom(Bytes address) {
  ClientSelection filter;
  filter.by_property["ADDR"] = [address](const Session& session) { return PeerOf(session) == address; };
  return filter;
}

}  // namespace respite
