// FaultsTest: the fixture of tests of TEST FAULT and TEST DROP. It has a server that allows them, a client that sends
// them, and a client that meets the faults.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {

class FaultsTest : public testing::Test {
 protected:
  explicit FaultsTest(std::vector<std::string> directives = {})
      : server_({.directives = WithTest(std::move(directives))}) {}

  static std::vector<std::string> WithTest(std::vector<std::string> directives) {
    directives.emplace_back("test-commands yes");
    return directives;
  }

  void Add(const std::string& rule) { EXPECT_THAT(admin_.Run("TEST FAULT ADD " + rule), Ok()) << rule; }
  void Delete(const std::string& name) { EXPECT_THAT(admin_.Run("TEST FAULT DEL " + name), Ok()); }
  int64_t Hits(const std::string& name) { return admin_.Run("TEST FAULT HITS " + name).Integer(); }
  std::string Refused(const std::string& rule) { return admin_.Run("TEST FAULT ADD " + rule).Text(); }
  // Returns the replies to requests that are sent together, one per line of the request.
  static std::string Talk(TestClient& client, const std::vector<std::string>& lines) {
    std::string requests;
    for (const std::string& line : lines) {
      std::vector<std::string> words;
      for (size_t at = 0; at <= line.size();) {
        const size_t end = std::min(line.find(' ', at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end + 1;
      }
      requests += EncodeRequest(words);
    }
    return client.Raw(requests);
  }
  std::string Talk(const std::vector<std::string>& lines) { return Talk(client_, lines); }
  // Returns the bytes that have arrived since the last call.
  std::string Come() { return client_.Raw(""); }
  void Pass(int64_t elapsed_ms) {
    server_.AdvanceMs(elapsed_ms);
    server_.Cron();
  }
  std::string ComeAfter(int64_t elapsed_ms) {
    Pass(elapsed_ms);
    return Come();
  }

  TestServer server_;
  TestClient admin_{server_, RespVersion::kResp3};
  TestClient client_{server_};
};

}  // namespace respite
