#include <csignal>
#include <iostream>

#include "base/clock.h"
#include "base/log.h"
#include "server/config/command_line.h"
#include "server/config/config.h"
#include "server/event_loop.h"
#include "server/listener.h"
#include "server/server.h"

using namespace respite;

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> arguments(argv, argv + argc);
  auto line = ParseCommandLine(arguments);
  if (!line.ok()) return 1;
  auto config = Config::Load(line.value(), std::cin);
  if (!config.ok()) return 1;
  SystemClock clock;
  Logger log(clock);
  log.SetRole('M');
  Server server({*config.value(), clock, log, SystemSeed()});
  EventLoop loop(server);
  Listener listener(loop);
  loop.OnSignal([&](int) { loop.Stop(0); });
  if (auto error = listener.Open()) {
    log.Warning(*error);
    return 1;
  }
  log.Notice("Ready to accept connections tcp");
  return loop.Run();
}
