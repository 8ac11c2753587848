#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

// There are no function libraries here yet, so FUNCTION has only what is true of an empty collection of them.
struct FunctionFlush {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|FLUSH [flush-type(ASYNC|SYNC)]",
                                       .summary = "Removes every function library.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions",
                                       .group = CommandGroup::kScripting,
                                       .flags = kWrite | kNoScript,
                                       .categories = kAclScripting,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax("function", call.args[1]);
    if (!call.args.AtEnd() && !call.args.TakeToken("ASYNC") && !call.args.TakeToken("SYNC")) {
      throw Refusal{refusals::kFunctionFlushMode};
    }
    call.reply.Ok();
  }
};

struct FunctionList {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION|LIST [LIBRARYNAME library-name-pattern] [WITHCODE]",
                                       .summary = "Lists the function libraries.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N functions",
                                       .group = CommandGroup::kScripting,
                                       .flags = kNoScript,
                                       .categories = kAclScripting,
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    CheckOptions(call.args);
    call.reply.Array(0);
  }

 private:
  static void CheckOptions(Args& args) {
    bool with_code = false;
    bool has_pattern = false;
    while (!args.AtEnd()) {
      if (!with_code && args.TakeToken("WITHCODE")) {
        with_code = true;
      } else if (!has_pattern && args.TakeToken("LIBRARYNAME")) {
        if (args.AtEnd()) throw Refusal{refusals::kLibraryNameMissing};
        args.Next();
        has_pattern = true;
      } else {
        throw refusals::UnknownArgument(args.Next());
      }
    }
  }
};

struct Function {
  static constexpr CommandSpec spec = {.syntax = "FUNCTION",
                                       .summary = "Container of the commands about function libraries.",
                                       .since = "7.0.0",
                                       .group = CommandGroup::kScripting,
                                       .arity = -2};
  static constexpr auto kSubcommands = Family<FunctionFlush, FunctionList>();
};

constexpr auto kServerCommands = Family<Function>();

}  // namespace

std::span<const CommandCard> ServerCommands() { return kServerCommands; }

}  // namespace respite
