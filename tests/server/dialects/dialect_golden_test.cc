// An emulated version reports the same as the real one: commands, directives with their defaults, fields of INFO.
//
// tests/golden/versions/<version>.txt has the report of the real version (capture_versions.py writes it).
// <version>.missing.txt has the facts that are missing here ("-") or additional ("+"). That file must be exact, and
// should shrink: run this test with RESPITE_REWRITE=1 to write it, and look at the change.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "server/catalogue/dialect.h"
#include "tests/server/command_facts.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using FactLines = std::set<std::string>;

struct GoldenCase {
  Emulated emulated;
  const char* golden;
};
constexpr auto kCases = std::to_array<GoldenCase>({{Emulated::kRedis62, "redis-6.2.16"},
                                                   {Emulated::kRedis70, "redis-7.0.15"},
                                                   {Emulated::kRedis72, "redis-7.2.6"},
                                                   {Emulated::kRedis74, "redis-7.4.1"},
                                                   {Emulated::kRedis80, "redis-8.0.2"},
                                                   {Emulated::kValkey80, "valkey-8.0.1"},
                                                   {Emulated::kRedis86, "redis-8.6.3"},
                                                   {Emulated::kValkey81, "valkey-8.1.1"},
                                                   {Emulated::kValkey91, "valkey-9.1.2"}});

// --- What the real one says.

// Returns the token of an argument and its version, as capture_versions.py shortens facts; empty for arguments without
// a token.
std::string Shortened(const std::string& fact) {
  if (fact.find(" argument#") == std::string::npos) return fact;
  static const std::regex kToken("(?: token=)([^ ]*)");
  static const std::regex kSince("(?: since=)([^ ]*)");
  std::smatch token;
  std::smatch since;
  if (!std::regex_search(fact, token, kToken)) return {};
  const std::string version = std::regex_search(fact, since, kSince) ? " since=" + since[1].str() : "";
  return std::string(CommandOfFact(fact)) + " token=" + token[1].str() + version;
}

// Whether the fact is among those that Redis 6.2 reports about a command.
bool IsBrief(const std::string& fact) {
  static const std::regex kBrief("[^| ]+ (arity|flags|legacy_keys|categories)=.*");
  return std::regex_match(fact, kBrief);
}

void AddFact(FactLines& facts, const std::string& fact, const Dialect& dialect) {
  const std::string shortened = Shortened(fact);
  if (shortened.empty() || (!dialect.traits.describes_commands_fully && !IsBrief(shortened))) return;
  facts.insert("command " + shortened);
}

FactLines GoldenOf(const GoldenCase& version) {
  const Dialect& dialect = DialectOf(version.emulated);
  FactLines all;
  for (const std::string& fact : GoldenLines("commands_7.2.txt")) AddFact(all, fact, dialect);
  std::string part;
  for (const std::string& line : GoldenLines("versions/" + std::string(version.golden) + ".txt")) {
    if (line.empty()) continue;
    if (line.starts_with('[')) {
      part = line.substr(1, line.size() - 2);
    } else if (part == "commands") {
      const std::string fact = "command " + line.substr(1);
      line.starts_with('-') ? void(all.erase(fact)) : void(all.insert(fact));
    } else if (part == "directives") {
      all.insert("directive " + line);
    } else {
      const size_t colon = line.find(':');
      for (Bytes field : SplitOn(Bytes(line).substr(colon + 2), ' ')) {
        all.insert("info " + line.substr(0, colon) + " " + std::string(field));
      }
    }
  }
  return all;
}

// --- What this server reports.

void AddCommands(FactLines& all, TestServer& server) {
  for (const Command* command : server->services().env.commands.Commands()) {
    if (command->Spec().protection == Protection::kTestCommands) continue;
    if (!command->Spec().module.empty()) continue;  // capture_versions.py leaves out commands of modules
    for (const std::string& fact : FactsOf(*command)) AddFact(all, fact, *command->dialect);
  }
}

void AddDirectives(FactLines& all, TestClient& client) {
  static const FactLines kOfTheStart = {
      "bind", "dir", "logfile", "port", "save", "enable-debug-command", "unixsocket", "cluster-port", "locale-collate"};
  const std::vector<std::string> pairs = client.Run("CONFIG GET *").Texts();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i].starts_with("tls-") || kOfTheStart.contains(pairs[i])) continue;
    all.insert("directive " + pairs[i] + (pairs[i + 1].empty() ? "" : " " + pairs[i + 1]));
  }
}

void AddInfo(FactLines& all, TestClient& client) {
  static const std::regex kVarying(
      "respite_version|aof_load_failed_commands|cmdstat_.*|latency_percentiles_.*|errorstat_.*|db[0-9]+|listener[0-9]+|"
      "module|mem_allocator_.*");
  std::string section;
  const std::string text = client.Run("INFO everything").Text();
  for (Bytes line : SplitOn(text, '\n')) {
    if (line.starts_with("# ")) section = ToLower(line.substr(2, line.size() - 3));
    const std::string field(line.substr(0, line.find(':')));
    const bool is_field = line.find(':') != Bytes::npos && !std::regex_match(field, kVarying);
    if (is_field) all.insert("info " + section + " " + field);
  }
}

FactLines OursOf(const GoldenCase& version) {
  TestServer server(TestServer::Options{.directives = {"emulate " + std::string(DialectOf(version.emulated).name)}});
  TestClient client(server);
  FactLines all;
  AddCommands(all, server);
  AddDirectives(all, client);
  AddInfo(all, client);
  return all;
}

// --- Both.

class DialectGolden : public testing::TestWithParam<GoldenCase> {};

std::string DifferencesOf(const GoldenCase& version) {
  const FactLines golden = GoldenOf(version);
  const FactLines ours = OursOf(version);
  std::string text;
  for (const std::string& line : golden)
    if (!ours.contains(line)) text += "-" + line + "\n";
  for (const std::string& line : ours)
    if (!golden.contains(line)) text += "+" + line + "\n";
  return text;
}

TEST_P(DialectGolden, DiffersFromTheRealVersionAsListedOnly) {
  const std::string path =
      RESPITE_SOURCE_DIR "/tests/golden/versions/" + std::string(GetParam().golden) + ".missing.txt";
  const std::string differences = DifferencesOf(GetParam());
  if (std::getenv("RESPITE_REWRITE") != nullptr) std::ofstream(path) << differences;
  std::ifstream listed(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(listed), {}), differences)
      << path << " is stale: run this test with RESPITE_REWRITE=1";
}

TEST_P(DialectGolden, TheGoldenFileIsThere) { EXPECT_GT(GoldenOf(GetParam()).size(), 1000u); }

INSTANTIATE_TEST_SUITE_P(Versions, DialectGolden, testing::ValuesIn(kCases), [](const auto& version) {
  std::string name = version.param.golden;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !IsDigit(c) && (c < 'a' || c > 'z'); }, '_');
  return name;
});

}  // namespace
}  // namespace respite
