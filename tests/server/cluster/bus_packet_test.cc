// The packets of the cluster bus, compared with packets of real nodes (tests/golden/capture_bus.py).
#include "server/cluster/bus_packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace respite {
namespace {

std::map<std::string, std::string> RecordedPackets() {
  std::map<std::string, std::string> packets;
  for (const auto& entry : std::filesystem::directory_iterator(RESPITE_SOURCE_DIR "/tests/golden/cluster")) {
    if (entry.path().extension() != ".packet") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    packets[entry.path().stem().string()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return packets;
}

BusPacket DecodedPacket(const std::string& bytes) {
  auto packet = BusPacket::Decode(bytes);
  EXPECT_TRUE(packet.ok()) << (packet.ok() ? "" : packet.error());
  return packet.ok() ? std::move(packet).value() : BusPacket();
}

TEST(BusPacketTest, RecordedPacketsAreWrittenAsTheyWereRead) {
  const auto packets = RecordedPackets();
  ASSERT_GE(packets.size(), 20u);
  for (const auto& [name, bytes] : packets) {
    SCOPED_TRACE(name);
    ASSERT_EQ(BusPacket::LengthOf(bytes), bytes.size());
    EXPECT_EQ(DecodedPacket(bytes).Encode(), bytes);
  }
}

TEST(BusPacketTest, RecordedPacketsSayWhatTheNodesWere) {
  const auto packets = RecordedPackets();
  const BusPacket pong = DecodedPacket(packets.at("pong_2440"));
  EXPECT_EQ(pong.header.type, PacketType::kPong);
  EXPECT_TRUE(pong.header.sender.IsValid());
  EXPECT_GE(pong.header.port, 21100);
  EXPECT_EQ(pong.header.bus_port, pong.header.port + 1000);
  const PingBody& body = std::get<PingBody>(pong.body);
  ASSERT_FALSE(body.gossip.empty());
  EXPECT_EQ(body.gossip[0].ip, "127.0.0.1");
  ASSERT_TRUE(body.extensions.hostname.has_value());
  EXPECT_THAT(*body.extensions.hostname, testing::StartsWith("host-"));
  ASSERT_TRUE(body.extensions.shard.has_value());

  const BusPacket publish = DecodedPacket(packets.at("publish_2278"));
  EXPECT_EQ(std::get<PublishBody>(publish.body).channel, "channel");
  EXPECT_EQ(std::get<PublishBody>(publish.body).message, "message");

  EXPECT_TRUE(std::get<FailBody>(DecodedPacket(packets.at("fail_2296")).body).id.IsValid());
  const BusPacket request = DecodedPacket(packets.at("vote_request_2256"));
  EXPECT_FALSE(request.header.primary.IsNull());
  EXPECT_GT(request.header.slots.Count(), 5000);
}

TEST(BusPacketTest, EveryBodyComesBack) {
  BusPacket packet;
  packet.header.type = PacketType::kUpdate;
  packet.header.sender = NodeId::FromBytes(std::string(NodeId::kLength, 'a'));
  UpdateBody update;
  update.config_epoch = 77;
  update.id = NodeId::FromBytes(std::string(NodeId::kLength, 'b'));
  for (int slot : {0, 7, 8, 63, 64, 16383}) update.slots.Add(slot);
  packet.body = update;
  const BusPacket read = DecodedPacket(packet.Encode());
  EXPECT_EQ(std::get<UpdateBody>(read.body).slots, update.slots);
  EXPECT_EQ(std::get<UpdateBody>(read.body).config_epoch, 77u);

  packet.header.type = PacketType::kPing;
  PingBody ping;
  ping.extensions.hostname = "a.host";
  ping.extensions.human_name = "name";
  ping.extensions.shard = update.id;
  ping.extensions.client_ipv4 = "1.2.3.4";
  ping.extensions.client_ipv6 = "::5";
  ping.extensions.availability_zone = "zone-1";
  ping.extensions.forgotten.push_back({packet.header.sender, 59});
  packet.body = ping;
  const BusPacket pinged = DecodedPacket(packet.Encode());
  const PingExtensions& extensions = std::get<PingBody>(pinged.body).extensions;
  EXPECT_EQ(extensions.hostname, "a.host");
  EXPECT_EQ(extensions.human_name, "name");
  EXPECT_EQ(extensions.shard, update.id);
  EXPECT_EQ(extensions.client_ipv4, "1.2.3.4");
  EXPECT_EQ(extensions.client_ipv6, "::5");
  EXPECT_EQ(extensions.availability_zone, "zone-1");
  EXPECT_EQ(extensions.internal_secret, std::nullopt);

  // Extension 4 of Redis 8 is a secret, not an address.
  ping.extensions.client_ipv4.reset();
  ping.extensions.internal_secret = std::string(40, '5');
  packet.body = ping;
  const BusPacket of_redis = DecodedPacket(packet.Encode());
  EXPECT_EQ(std::get<PingBody>(of_redis.body).extensions.internal_secret, std::string(40, '5'));
  EXPECT_EQ(std::get<PingBody>(of_redis.body).extensions.client_ipv4, std::nullopt);
  ASSERT_EQ(extensions.forgotten.size(), 1u);
  EXPECT_EQ(extensions.forgotten[0].ttl_s, 59u);
}

// Whatever lengths a packet claims, no byte after its end is read, and an accepted packet is complete.
TEST(BusPacketTest, WrongLengthsAreRefused) {
  for (const auto& [name, bytes] : RecordedPackets()) {
    SCOPED_TRACE(name);
    for (size_t size = 0; size < bytes.size(); size += size < BusPacket::kHeaderBytes ? 97 : 1) {
      EXPECT_FALSE(BusPacket::Decode(bytes.substr(0, size)).ok()) << size;
      if (size < BusPacket::kHeaderBytes) continue;
      // Repeats this with a claimed length that fits the bytes that are there.
      std::string cut = bytes.substr(0, size);
      cut[6] = static_cast<char>(size >> 8);
      cut[7] = static_cast<char>(size);
      const auto packet = BusPacket::Decode(cut);
      if (!packet.ok()) continue;
      EXPECT_EQ(packet.value().Encode(), cut) << size;
    }
  }
}

// nodes.conf would contain them, and no server could read it again.
TEST(BusPacketTest, WhatCannotBeWrittenDownIsRefused) {
  const std::string ping = RecordedPackets().at("ping_2344");
  BusPacket packet = DecodedPacket(ping);
  packet.header.current_epoch = uint64_t{1} << 63;
  EXPECT_FALSE(BusPacket::Decode(packet.Encode()).ok());
  packet = DecodedPacket(ping);
  packet.header.config_epoch = UINT64_MAX;
  EXPECT_FALSE(BusPacket::Decode(packet.Encode()).ok());
  for (const char* const ip : {"1.2.3.4 x\ny", "1.2.3.4,a", "1.2.3.4\t"}) {
    packet = DecodedPacket(ping);
    packet.header.ip = ip;
    EXPECT_FALSE(BusPacket::Decode(packet.Encode()).ok()) << ip;
  }
  packet = DecodedPacket(ping);
  packet.header.type = PacketType::kUpdate;
  packet.body = UpdateBody{.config_epoch = UINT64_MAX, .id = packet.header.sender, .slots = {}};
  EXPECT_FALSE(BusPacket::Decode(packet.Encode()).ok());
}

TEST(BusPacketTest, ForeignBytesAreNoPacket) {
  EXPECT_FALSE(BusPacket::LengthOf("GET / HT").has_value());
  EXPECT_FALSE(BusPacket::LengthOf(std::string("RCmb\0\0\0\7", 8)).has_value());
  EXPECT_FALSE(BusPacket::LengthOf("RCmb\xff\xff\xff\xff").has_value());
  auto packets = RecordedPackets();
  std::string other_version = packets.at("fail_2296");
  other_version[9] = 2;
  EXPECT_FALSE(BusPacket::Decode(other_version).ok());
  std::string other_type = packets.at("fail_2296");
  other_type[13] = 99;
  EXPECT_FALSE(BusPacket::Decode(other_type).ok());
}

}  // namespace
}  // namespace respite
