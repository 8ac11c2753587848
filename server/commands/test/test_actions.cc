#include "server/commands/test/test_actions.h"

#include "server/catalogue/refusals.h"
#include "server/execution/services.h"

namespace respite {

void RunTestAction(Call& call, std::span<const TestAction> actions) {
  const Bytes name = call.args.Next();
  for (const TestAction& action : actions) {
    if (EqualsIgnoreCase(name, action.name)) return action.run(call);
  }
  throw refusals::SubcommandSyntax(call.services.env.dialect, "TEST", name);
}

}  // namespace respite
