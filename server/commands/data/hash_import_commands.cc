// HIMPORT: a client names lists of fields, and then creates many hashes with these fields by their values alone.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "server/clients/client_state.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

// The documents of Redis do not tell the texts of these errors, so Redis may use other texts.
constexpr char kDuplicateField[] = "ERR duplicate field name in fieldset";
constexpr char kNoFieldSet[] = "ERR no such fieldset";
constexpr char kValueCount[] = "ERR value count does not match fieldset field count";

}  // namespace
}  // namespace refusals

namespace {

using FieldSetNode = decltype(FieldSets::by_name)::iterator;

void DiscardFieldSet(Session& session, FieldSetNode node) {
  session.field_sets->by_name_bytes -= FieldSets::BytesOf(node->first, node->second);
  session.field_sets->by_name.erase(node);
  if (session.field_sets->by_name.empty()) session.field_sets.reset();
}

struct HImportContainer {
  static constexpr CommandSpec spec = {.syntax = "HIMPORT",
                                       .summary = "Creates hashes from lists of fields that the client has named.",
                                       .since = "8.10.0",
                                       .group = CommandGroup::kHash,
                                       .arity = -2};
};

struct HImportPrepare {
  static constexpr CommandSpec spec = {.syntax = "HIMPORT|PREPARE fieldset-name field...",
                                       .summary = "Names a list of fields for HIMPORT SET on this connection.",
                                       .since = "8.10.0",
                                       .complexity = "O(N*log(N)), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kDenyOom,
                                       .tips = "request_policy:all_shards"};
  static void Run(Call& call) {
    Session& session = call.session;
    std::string name(call.args.Next());
    const auto rest = call.args.Rest();
    std::vector<std::string> fields(rest.begin(), rest.end());
    std::vector<Bytes> sorted(rest.begin(), rest.end());
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) throw Refusal{refusals::kDuplicateField};
    if (session.field_sets == nullptr) session.field_sets = std::make_unique<FieldSets>();
    FieldSets& sets = *session.field_sets;
    if (const auto old = sets.by_name.find(name); old != sets.by_name.end()) {
      sets.by_name_bytes -= FieldSets::BytesOf(old->first, old->second);
    }
    sets.by_name_bytes += FieldSets::BytesOf(name, fields);
    sets.by_name.insert_or_assign(std::move(name), std::move(fields));
    call.reply.Ok();
  }
};

struct HImportSet {
  static constexpr CommandSpec spec = {.syntax = "HIMPORT|SET key fieldset-name value...",
                                       .summary = "Creates a hash with the fields of a named list and these values.",
                                       .since = "8.10.0",
                                       .complexity = "O(N), N being the number of fields",
                                       .group = CommandGroup::kHash,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(2, kKeyOW | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, name] = call.args.Take<Bytes, Bytes>();
    const auto values = call.args.Rest();
    const FieldSets* const sets = call.session.field_sets.get();
    const auto found = sets == nullptr ? decltype(sets->by_name.end())() : sets->by_name.find(name);
    if (sets == nullptr || found == sets->by_name.end()) throw Refusal{refusals::kNoFieldSet};
    const std::vector<std::string>& fields = found->second;
    if (values.size() != fields.size()) throw Refusal{refusals::kValueCount};
    std::vector<Bytes> words;
    words.reserve(2 * fields.size());
    for (size_t i = 0; i < fields.size(); ++i) words.insert(words.end(), {fields[i], values[i]});
    const bool replaces = DropOld(call, key);
    Edit<Hash> hash = OpenForFields(call, key, words);
    hash->PrepareToAdd(words);
    for (size_t i = 0; i < words.size(); i += 2) hash->Set(words[i], words[i + 1]);
    hash.ReportChange("hset", fields.size());
    hash.ReportSubkeys("hset", {words, 2});
    Propagate(call, key, words, replaces);
    call.reply.Ok();
  }

 private:
  static bool DropOld(Call& call, Bytes key) {
    if (const Entry* entry = call.db.Peek(key); entry != nullptr && entry->Type() != ValueType::kHash)
      throw Refusal{refusals::kWrongType};
    KeyEdit old = call.db.Open(key);
    if (!old) return false;
    FreeReplaced(call, old.Take());
    old.ReportChange("del");
    return true;
  }
  // Propagates the new hash as HSET, because replicas and files do not know the field lists of this connection.
  static void Propagate(Call& call, Bytes key, std::span<const Bytes> words, bool replaces) {
    if (!call.effect.IsRecording()) return;
    if (replaces) call.effect.Replace("DEL", key);
    std::vector<Bytes> request = {"HSET", key};
    request.insert(request.end(), words.begin(), words.end());
    call.effect.Replace(request);
  }
};

struct HImportDiscard {
  static constexpr CommandSpec spec = {.syntax = "HIMPORT|DISCARD fieldset-name",
                                       .summary = "Forgets a named list of fields of this connection.",
                                       .since = "8.10.0",
                                       .complexity = "O(log(N)), N being the number of named lists",
                                       .group = CommandGroup::kHash,
                                       .tips = "request_policy:all_shards"};
  static void Run(Call& call) {
    Session& session = call.session;
    const Bytes name = call.args.Next();
    if (session.field_sets == nullptr) return call.reply.Integer(0);
    const auto found = session.field_sets->by_name.find(name);
    if (found == session.field_sets->by_name.end()) return call.reply.Integer(0);
    DiscardFieldSet(session, found);
    call.reply.Integer(1);
  }
};

struct HImportDiscardAll {
  static constexpr CommandSpec spec = {.syntax = "HIMPORT|DISCARDALL",
                                       .summary = "Forgets all named lists of fields of this connection.",
                                       .since = "8.10.0",
                                       .complexity = "O(N), N being the number of named lists",
                                       .group = CommandGroup::kHash,
                                       .tips = "request_policy:all_shards"};
  static void Run(Call& call) {
    Session& session = call.session;
    const size_t count = session.field_sets == nullptr ? 0 : session.field_sets->by_name.size();
    session.field_sets.reset();
    call.reply.Integer(static_cast<int64_t>(count));
  }
};

constexpr auto kHashImportCommands =
    Family<HImportContainer, HImportDiscard, HImportDiscardAll, HImportPrepare, HImportSet>();

}  // namespace

std::span<const CommandCard> HashImportCommands() { return kHashImportCommands; }

}  // namespace respite
