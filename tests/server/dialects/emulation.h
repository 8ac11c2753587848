// Emulation: a server that emulates a version, and a client of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {

struct Emulation {
  explicit Emulation(const std::string& version, RespVersion resp = RespVersion::kResp2)
      : Emulation(std::vector<std::string>{"emulate " + version}, resp) {}
  explicit Emulation(std::vector<std::string> directives, RespVersion resp = RespVersion::kResp2)
      : server(TestServer::Options{.directives = std::move(directives)}), client(server, resp) {}

  TestReply Run(Bytes line) { return client.Run(line); }

  TestServer server;
  TestClient client;
};

}  // namespace respite
