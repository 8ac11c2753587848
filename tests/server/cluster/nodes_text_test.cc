// nodes.conf, compared with the files of real nodes (tests/golden/capture_bus.py).
#include "server/cluster/nodes_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/str_cat.h"

namespace respite {
namespace {

std::string FileOf(int node) {
  std::ifstream file(StrCat(RESPITE_SOURCE_DIR "/tests/golden/cluster/nodes_", node, ".conf"));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<ClusterView> ReadNodes(const std::string& text) {
  Random random(1);
  auto view = ParseNodesFile(text, PortChoice::kTcp, random);
  EXPECT_TRUE(view.ok()) << (view.ok() ? "" : view.error());
  return view.ok() ? std::move(view).value() : nullptr;
}

// Returns the lines in order, without the values that are not kept: times, and whether a node was connected.
std::vector<std::string> Essence(const std::string& text) {
  std::vector<std::string> lines;
  for (const Bytes line : SplitOn(text, '\n')) {
    std::vector<Bytes> words = SplitOn(line, ' ');
    std::string kept;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[0] == "vars" || i < 4 || i == 6 || i > 7) kept += std::string(words[i]) + " ";
    }
    lines.push_back(kept);
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(NodesTextTest, FilesOfRealNodesAreWrittenAsTheyWereRead) {
  for (int node = 0; node < 6; ++node) {
    SCOPED_TRACE(node);
    const std::string text = FileOf(node);
    const auto view = ReadNodes(text);
    ASSERT_NE(view, nullptr);
    EXPECT_EQ(Essence(NodesFileText(*view, PortChoice::kTcp)), Essence(text));
  }
}

TEST(NodesTextTest, WhatAFileSaysIsBelieved) {
  const auto view = ReadNodes(FileOf(3));
  ASSERT_NE(view, nullptr);
  const ClusterNode& me = view->me();
  EXPECT_EQ(me.hostname, "host-3");
  EXPECT_EQ(me.human_name, "nodenodenode");
  EXPECT_EQ(me.address.tcp_port, 21103);
  EXPECT_EQ(me.address.bus_port, 22103);
  EXPECT_EQ(me.slot_count, 5461);
  EXPECT_EQ(me.replicas.size(), 1u);
  EXPECT_NE(view->MigratingTo(7), nullptr);
  EXPECT_EQ(view->current_epoch, 7u);
  EXPECT_EQ(view->Size(), 3);
}

TEST(NodesTextTest, DamagedFilesAreRefused) {
  Random random(1);
  const std::string sound = FileOf(3);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"myself,master", "master"},
                                                        {"myself", "mysel"},
                                                        {"0-5460", "0-16384"},
                                                        {"0-5460", "x"},
                                                        {"[7->-", "[7>>-"},
                                                        {"21103@", "211030@"},
                                                        {"shard-id=d0", "shard-id=x0"},
                                                        {"lastVoteEpoch 7", "lastVoteEpoch"},
                                                        {"lastVoteEpoch 7", "lastVoteEpoch -1"},
                                                        {"0-5460", "5460-0"},
                                                        {" slave ", " myself,slave "},
                                                        {"0-5460", "0-16383"}}) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(ParseNodesFile(text, PortChoice::kTcp, random).ok()) << from << " -> " << to;
  }
  EXPECT_FALSE(ParseNodesFile("vars currentEpoch 1 lastVoteEpoch 0\n", PortChoice::kTcp, random).ok());
}

// Found by fuzzing: a primary without a line in the file had no shard, and the server could not read the file that it
// then wrote.
TEST(NodesTextTest, APrimaryMayBeMissing) {
  std::string text = FileOf(1);
  const size_t line = text.find("fa88199f3487c8975c57ee4e3d5e0c7903ba4c23 ");
  text.erase(line, text.find('\n', line) + 1 - line);
  const auto view = ReadNodes(text);
  ASSERT_NE(view, nullptr);
  ASSERT_NE(view->me().primary, nullptr);
  EXPECT_FALSE(view->me().primary->HasAddress());
  const auto again = ReadNodes(NodesFileText(*view, PortChoice::kTcp));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(NodesFileText(*again, PortChoice::kTcp), NodesFileText(*view, PortChoice::kTcp));
}

TEST(NodesTextTest, NobodyHasTwoLinesOrFollowsItself) {
  Random random(1);
  const std::string a(NodeId::kLength, 'a');
  const std::string vars = "vars currentEpoch 3 lastVoteEpoch 0\n";
  const std::string mine = a + " 127.0.0.1:7000@17000 myself,master - 0 0 3 connected\n";
  EXPECT_TRUE(ParseNodesFile(mine + vars, PortChoice::kTcp, random).ok());
  const std::string other = a + " 127.0.0.1:7001@17001 master - 0 0 3 connected\n";
  EXPECT_FALSE(ParseNodesFile(mine + other + vars, PortChoice::kTcp, random).ok());
  const std::string circle = a + " 127.0.0.1:7000@17000 myself,slave " + a + " 0 0 3 connected\n";
  EXPECT_FALSE(ParseNodesFile(circle + vars, PortChoice::kTcp, random).ok());
}

// A node that tried to greet itself removed itself when that took too long.
TEST(NodesTextTest, ANodeDoesNotDoubtItself) {
  const std::string a(NodeId::kLength, 'a');
  const auto view =
      ReadNodes(a + " 127.0.0.1:7000@17000 myself,master,fail,handshake,noaddr - 0 0 3 connected 0-16383\n" +
                "vars currentEpoch 18446744073709551615 lastVoteEpoch 0\n");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->me().flags, kNodeMyself | kNodePrimary);
  EXPECT_EQ(view->current_epoch, UINT64_MAX);
}

TEST(NodesTextTest, AddressesForClientsAreAddresses) {
  const auto file_with = [](const std::string& field) {
    return std::string(NodeId::kLength, 'a') + " 127.0.0.1:7000@17000,," + field +
           " myself,master - 0 0 3 connected\n" + "vars currentEpoch 3 lastVoteEpoch 0\n";
  };
  const auto view = ReadNodes(file_with("client-ipv6=::7,client-ipv4=192.0.2.7"));
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->me().IpFor(IpFamily::kIpv4), "192.0.2.7");
  EXPECT_EQ(view->me().IpFor(IpFamily::kIpv6), "::7");
  EXPECT_THAT(NodesFileText(*view, PortChoice::kTcp), testing::HasSubstr(",,client-ipv6=::7,client-ipv4=192.0.2.7,"));
  Random random(1);
  for (const char* const wrong : {"client-ipv4=::7", "client-ipv6=192.0.2.7", "client-ipv4=", "client-ipv4=x"}) {
    EXPECT_FALSE(ParseNodesFile(file_with(wrong), PortChoice::kTcp, random).ok()) << wrong;
  }
}

TEST(NodesTextTest, OldFilesHaveNeitherBusPortsNorShards) {
  const std::string id(NodeId::kLength, 'a');
  const auto view =
      ReadNodes(id + " 127.0.0.1:7000 myself,master - 0 0 3 connected 5 7-9\nvars currentEpoch 3 lastVoteEpoch 0\n");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->me().address.bus_port, 17000);
  EXPECT_EQ(view->me().slot_count, 4);
  EXPECT_TRUE(view->me().shard.IsValid());
}

}  // namespace
}  // namespace respite
