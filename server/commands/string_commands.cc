#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

struct Get {
  static constexpr CommandSpec spec = {.syntax = "GET key",
                                       .summary = "Returns the string at a key.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .categories = kAclString};
  static void Run(Call& call) {
    const Entry* entry = call.db.ReadString(call.args.Next());
    if (entry == nullptr) return call.reply.Null();
    call.ReplyText(*entry);
  }
};

struct Set {
  static constexpr CommandSpec spec = {.syntax = "SET key value",
                                       .summary = "Stores a string at a key.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags)},
                                       .categories = kAclString};
  static void Run(Call& call) {
    auto [key, value] = call.args.Take<Bytes, Bytes>();
    call.db.Put(call.db.Find(key), key, call.Value(value));
    call.db.Touched(key, "set");
    call.reply.Ok();
  }
};

constexpr auto kStringCommands = Family<Get, Set>();

}  // namespace

std::span<const CommandCard> StringCommands() { return kStringCommands; }

}  // namespace respite
