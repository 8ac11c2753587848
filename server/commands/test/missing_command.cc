// TEST MISSING.
#include <array>

#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

struct TestMissing {
  static constexpr CommandSpec spec =
      TestSpec("TEST|MISSING [CLEAR]", "Shows features that clients have requested and this server lacks.");
  static void Run(Call& call) {
    MissingFeatures& missing = call.services.lab.missing;
    if (call.args.TakeToken("CLEAR")) {
      call.args.ExpectEnd();
      missing.Clear();
      return call.reply.Ok();
    }
    call.args.ExpectEnd();
    constexpr std::array<Bytes, 4> kKinds = {"command", "subcommand", "option", "directive"};
    call.reply.Array(missing.All().size());
    for (const MissingFeature* feature : missing.All()) {
      ReplyFields(call.reply, 6 + ReplyFields::kOfClient)
          .Text("kind", kKinds[static_cast<size_t>(feature->kind)])
          .Text("what", feature->name)
          .Text("request", feature->request)
          .Client(*feature->client)
          .Number("count", static_cast<int64_t>(feature->count))
          .Number("first", feature->first_ms)
          .Number("last", feature->last_ms);
    }
  }
};

constexpr auto kTestMissingCommands = Family<TestMissing>();

}  // namespace

std::span<const CommandCard> TestMissingCommands() { return kTestMissingCommands; }

}  // namespace respite
