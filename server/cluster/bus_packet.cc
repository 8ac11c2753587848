#include "server/cluster/bus_packet.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_order.h"
#include "server/config/announced_place.h"

namespace respite {

namespace {

constexpr Bytes kSignature = "RCmb";
constexpr uint16_t kVersion = 1;
constexpr size_t kIpBytes = 46;
constexpr size_t kReservedBytes = 30;
constexpr size_t kMessageFlagBytes = 3;
constexpr size_t kPublishHeadBytes = 8;
constexpr size_t kUpdateBytes = 8 + NodeId::kLength + SlotSet::kBytes;
constexpr size_t kExtensionHeadBytes = 8;

// Valkey 9.1 uses 6 and 7 for extensions that Respite does not have.
enum class ExtensionType : uint16_t {
  kHostname,
  kHumanName,
  kForgotten,
  kShard,
  kClientIpv4,
  kClientIpv6,
  kAvailabilityZone = 8,
};

constexpr size_t Aligned(size_t bytes) { return (bytes + 7) / 8 * 8; }

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class Number>
  void Put(Number value) {
    std::array<char, sizeof value> bytes;
    StoreBig<Number>(bytes.data(), value);
    out_.append(bytes.data(), bytes.size());
  }
  // Writes the text as a field of `bytes` bytes, padded with zero bytes. The last byte of the field is always zero, so
  // a longer text is cut.
  void PutText(Bytes text, size_t bytes) {
    text = text.substr(0, bytes - 1);
    out_.append(text);
    out_.append(bytes - text.size(), '\0');
  }
  void PutId(const NodeId& id) { out_.append(id.Text()); }
  void PutZeros(size_t bytes) { out_.append(bytes, '\0'); }

 private:
  std::string& out_;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  size_t Left() const { return bytes_.size(); }
  // Returns the next `bytes` bytes. Requires, as all functions of Reader do: at least this number of bytes is left.
  Bytes Take(size_t bytes) {
    const Bytes taken = bytes_.substr(0, bytes);
    bytes_.remove_prefix(bytes);
    return taken;
  }
  template <class Number>
  Number Get() {
    return LoadBig<Number>(Take(sizeof(Number)).data());
  }
  // Reads a field of `bytes` bytes, and returns its text up to the first zero byte.
  std::string GetText(size_t bytes) {
    const Bytes text = Take(bytes);
    return std::string(text.substr(0, text.find('\0')));
  }
  NodeId GetId() { return NodeId::FromBytes(Take(NodeId::kLength)); }

 private:
  Bytes bytes_;
};

// --- Encoding.

void PutExtension(std::string& out, ExtensionType type, Bytes content) {
  Writer writer(out);
  writer.Put(static_cast<uint32_t>(kExtensionHeadBytes + Aligned(content.size())));
  writer.Put(static_cast<uint16_t>(type));
  writer.Put(uint16_t{0});
  out.append(content);
  writer.PutZeros(Aligned(content.size()) - content.size());
}

// Writes an extension whose content is a text with a terminating zero byte.
void PutTextExtension(std::string& out, ExtensionType type, const std::string& text) {
  PutExtension(out, type, Bytes(text.c_str(), text.size() + 1));
}

uint16_t CountOf(const PingExtensions& extensions) {
  return static_cast<uint16_t>(extensions.forgotten.size() + (extensions.hostname ? 1 : 0) +
                               (extensions.human_name ? 1 : 0) + (extensions.shard ? 1 : 0) +
                               (extensions.client_ipv4 ? 1 : 0) + (extensions.client_ipv6 ? 1 : 0) +
                               (extensions.availability_zone ? 1 : 0) + (extensions.internal_secret ? 1 : 0));
}

void PutExtensions(std::string& out, const PingExtensions& extensions) {
  if (extensions.hostname) PutTextExtension(out, ExtensionType::kHostname, *extensions.hostname);
  if (extensions.human_name) PutTextExtension(out, ExtensionType::kHumanName, *extensions.human_name);
  for (const PingExtensions::Forgotten& forgotten : extensions.forgotten) {
    std::string content(forgotten.id.Text());
    Writer(content).Put(forgotten.ttl_s);
    PutExtension(out, ExtensionType::kForgotten, content);
  }
  if (extensions.shard) PutExtension(out, ExtensionType::kShard, extensions.shard->Text());
  if (extensions.client_ipv4) PutTextExtension(out, ExtensionType::kClientIpv4, *extensions.client_ipv4);
  if (extensions.internal_secret) PutExtension(out, ExtensionType::kClientIpv4, *extensions.internal_secret);
  if (extensions.client_ipv6) PutTextExtension(out, ExtensionType::kClientIpv6, *extensions.client_ipv6);
  if (extensions.availability_zone) {
    PutTextExtension(out, ExtensionType::kAvailabilityZone, *extensions.availability_zone);
  }
}

void PutGossip(std::string& out, const GossipEntry& entry) {
  Writer writer(out);
  writer.PutId(entry.id);
  writer.Put(entry.ping_sent_s);
  writer.Put(entry.pong_received_s);
  writer.PutText(entry.ip, kIpBytes);
  writer.Put(entry.port);
  writer.Put(entry.bus_port);
  writer.Put(entry.flags);
  writer.Put(entry.other_port);
  writer.Put(uint16_t{0});
}

struct BodyWriter {
  std::string& out;

  void operator()(const EmptyBody&) const {}
  void operator()(const PingBody& body) const {
    for (const GossipEntry& entry : body.gossip) PutGossip(out, entry);
    PutExtensions(out, body.extensions);
  }
  void operator()(const FailBody& body) const { Writer(out).PutId(body.id); }
  void operator()(const PublishBody& body) const {
    Writer writer(out);
    writer.Put(static_cast<uint32_t>(body.channel.size()));
    writer.Put(static_cast<uint32_t>(body.message.size()));
    out.append(body.channel);
    out.append(body.message);
  }
  void operator()(const UpdateBody& body) const {
    Writer writer(out);
    writer.Put(body.config_epoch);
    writer.PutId(body.id);
    body.slots.AppendBytes(out);
  }
};

// --- Decoding.

GossipEntry GetGossip(Reader& reader) {
  GossipEntry entry;
  entry.id = reader.GetId();
  entry.ping_sent_s = reader.Get<uint32_t>();
  entry.pong_received_s = reader.Get<uint32_t>();
  entry.ip = reader.GetText(kIpBytes);
  entry.port = reader.Get<uint16_t>();
  entry.bus_port = reader.Get<uint16_t>();
  entry.flags = reader.Get<uint16_t>();
  entry.other_port = reader.Get<uint16_t>();
  reader.Take(sizeof(uint16_t));
  return entry;
}

// Stores a received extension in `extensions`. Returns the error if the content is invalid for the type. Ignores
// unknown types.
std::optional<std::string> TakeExtension(PingExtensions& extensions, uint16_t type, Bytes content) {
  const auto ends = [](Bytes text) { return text.find('\0') != Bytes::npos; };
  Reader reader(content);
  switch (static_cast<ExtensionType>(type)) {
    case ExtensionType::kHostname:
      if (!ends(content)) return "hostname without an end";
      extensions.hostname = reader.GetText(content.size());
      return std::nullopt;
    case ExtensionType::kHumanName:
      if (!ends(content)) return "human nodename without an end";
      extensions.human_name = reader.GetText(content.size());
      return std::nullopt;
    case ExtensionType::kForgotten:
      if (content.size() < NodeId::kLength + sizeof(uint64_t)) return "forgotten node too short";
      extensions.forgotten.push_back({reader.GetId(), reader.Get<uint64_t>()});
      return std::nullopt;
    case ExtensionType::kShard:
      if (content.size() < NodeId::kLength) return "shard id too short";
      extensions.shard = reader.GetId();
      return std::nullopt;
    // Accepts any content for kClientIpv4 and kClientIpv6, because Redis 8 uses their numbers for other extensions. Its
    // extension 4 is a secret: 40 hexadecimal digits without a zero byte at the end, unlike any address.
    case ExtensionType::kClientIpv4:
      if (!ends(content) && NodeId::Parse(content)) {
        extensions.internal_secret = std::string(content);
        return std::nullopt;
      }
      extensions.client_ipv4 = reader.GetText(content.size());
      return std::nullopt;
    case ExtensionType::kClientIpv6:
      extensions.client_ipv6 = reader.GetText(content.size());
      return std::nullopt;
    case ExtensionType::kAvailabilityZone:
      extensions.availability_zone = reader.GetText(content.size());
      return std::nullopt;
  }
  return std::nullopt;
}

Result<PingBody, std::string> GetPing(Reader& reader, size_t gossip, size_t extensions) {
  PingBody body;
  if (reader.Left() < gossip * BusPacket::kGossipBytes) return Failure(std::string("gossip behind its end"));
  body.gossip.reserve(gossip);
  for (size_t i = 0; i < gossip; ++i) body.gossip.push_back(GetGossip(reader));
  for (size_t i = 0; i < extensions; ++i) {
    if (reader.Left() < kExtensionHeadBytes) return Failure(std::string("extension behind its end"));
    const auto length = reader.Get<uint32_t>();
    const auto type = reader.Get<uint16_t>();
    reader.Take(sizeof(uint16_t));
    if (length < kExtensionHeadBytes || length % 8 != 0)
      return Failure(std::string("extension without proper padding"));
    const size_t content = length - kExtensionHeadBytes;
    if (content > reader.Left()) return Failure(std::string("extension behind its end"));
    if (auto reason = TakeExtension(body.extensions, type, reader.Take(content))) return Failure(std::move(*reason));
  }
  if (reader.Left() != 0) return Failure(std::string("bytes behind its end"));
  return body;
}

Result<PublishBody, std::string> GetPublish(Reader& reader) {
  if (reader.Left() < kPublishHeadBytes) return Failure(std::string("message too short"));
  const auto channel = reader.Get<uint32_t>();
  const auto message = reader.Get<uint32_t>();
  if (uint64_t{channel} + message != reader.Left()) return Failure(std::string("message of another length"));
  PublishBody body;
  body.channel = reader.Take(channel);
  body.message = reader.Take(message);
  return body;
}

struct Frame {
  uint16_t count = 0;
  uint16_t extensions = 0;
};

Frame GetHeader(Reader& reader, PacketHeader& header) {
  Frame frame;
  reader.Take(BusPacket::kPreambleBytes + sizeof kVersion);
  header.port = reader.Get<uint16_t>();
  header.type = static_cast<PacketType>(reader.Get<uint16_t>());
  frame.count = reader.Get<uint16_t>();
  header.current_epoch = reader.Get<uint64_t>();
  header.config_epoch = reader.Get<uint64_t>();
  header.offset = reader.Get<uint64_t>();
  header.sender = reader.GetId();
  header.slots = SlotSet::FromBytes(reader.Take(SlotSet::kBytes));
  header.primary = reader.GetId();
  header.ip = reader.GetText(kIpBytes);
  frame.extensions = reader.Get<uint16_t>();
  reader.Take(kReservedBytes);
  header.other_port = reader.Get<uint16_t>();
  header.bus_port = reader.Get<uint16_t>();
  header.flags = reader.Get<uint16_t>();
  header.is_cluster_ok = reader.Get<uint8_t>() == 0;
  header.message_flags = reader.Get<uint8_t>();
  reader.Take(kMessageFlagBytes - 1);
  return frame;
}

// Stores the body in the packet, or returns the error with which reading the body failed.
template <class Body>
std::optional<std::string> Keep(BusPacket& packet, Result<Body, std::string> body) {
  if (!body.ok()) return std::move(body).error();
  packet.body = std::move(body).value();
  return std::nullopt;
}

std::optional<std::string> GetBody(BusPacket& packet, Reader& reader, const Frame& frame) {
  switch (packet.header.type) {
    case PacketType::kPing:
    case PacketType::kPong:
    case PacketType::kMeet: {
      const bool extends = (packet.header.message_flags & PacketHeader::kHasExtensions) != 0;
      return Keep(packet, GetPing(reader, frame.count, extends ? frame.extensions : 0));
    }
    case PacketType::kFail:
      if (reader.Left() != NodeId::kLength) return "report of another length";
      packet.body = FailBody{reader.GetId()};
      return std::nullopt;
    case PacketType::kPublish:
    case PacketType::kPublishShard:
      return Keep(packet, GetPublish(reader));
    case PacketType::kUpdate: {
      if (reader.Left() != kUpdateBytes) return "update of another length";
      UpdateBody body;
      body.config_epoch = reader.Get<uint64_t>();
      body.id = reader.GetId();
      body.slots = SlotSet::FromBytes(reader.Take(SlotSet::kBytes));
      packet.body = body;
      return std::nullopt;
    }
    case PacketType::kVoteRequest:
    case PacketType::kVote:
    case PacketType::kPauseRequest:
      if (reader.Left() != 0) return "bytes behind its end";
      return std::nullopt;
    case PacketType::kModule:
      return std::nullopt;
  }
  return "unknown type";
}

}  // namespace

Bytes NameOf(PacketType type) {
  static constexpr std::array<Bytes, kPacketTypeCount> kNames = {
      "ping", "pong", "meet", "fail", "publish", "auth-req", "auth-ack", "update", "mfstart", "module", "publishshard"};
  return kNames[static_cast<size_t>(type)];
}

std::string BusPacket::Encode() const {
  std::string out;
  out.reserve(kHeaderBytes);
  Writer writer(out);
  const auto* ping = std::get_if<PingBody>(&body);
  const uint16_t extensions = ping == nullptr ? uint16_t{0} : CountOf(ping->extensions);
  out.append(kSignature);
  writer.Put(uint32_t{0});  // the length; filled in below
  writer.Put(kVersion);
  writer.Put(header.port);
  writer.Put(static_cast<uint16_t>(header.type));
  writer.Put(ping == nullptr ? uint16_t{0} : static_cast<uint16_t>(ping->gossip.size()));
  writer.Put(header.current_epoch);
  writer.Put(header.config_epoch);
  writer.Put(header.offset);
  writer.PutId(header.sender);
  header.slots.AppendBytes(out);
  writer.PutId(header.primary);
  writer.PutText(header.ip, kIpBytes);
  writer.Put(extensions);
  writer.PutZeros(kReservedBytes);
  writer.Put(header.other_port);
  writer.Put(header.bus_port);
  writer.Put(header.flags);
  writer.Put(static_cast<uint8_t>(header.is_cluster_ok ? 0 : 1));
  writer.Put(static_cast<uint8_t>(header.message_flags | (extensions != 0 ? PacketHeader::kHasExtensions : 0)));
  writer.PutZeros(kMessageFlagBytes - 1);
  std::visit(BodyWriter{out}, body);
  std::string length;
  Writer(length).Put(static_cast<uint32_t>(out.size()));
  out.replace(kSignature.size(), length.size(), length);
  return out;
}

std::optional<uint32_t> BusPacket::LengthOf(Bytes preamble) {
  if (!preamble.starts_with(kSignature)) return std::nullopt;
  Reader reader(preamble.substr(kSignature.size()));
  const auto length = reader.Get<uint32_t>();
  if (length < kHeaderBytes || length > kMaxPacketBytes) return std::nullopt;
  return length;
}

Result<BusPacket, std::string> BusPacket::Decode(Bytes bytes) {
  if (bytes.size() < kHeaderBytes || LengthOf(bytes) != bytes.size()) return Failure(std::string("bad length"));
  Reader version(bytes.substr(kPreambleBytes));
  if (version.Get<uint16_t>() != kVersion) return Failure(std::string("another version of the protocol"));
  BusPacket packet;
  Reader reader(bytes);
  const Frame frame = GetHeader(reader, packet.header);
  const uint64_t epoch = std::max(packet.header.current_epoch, packet.header.config_epoch);
  if (epoch > kMaxEpoch) return Failure(std::string("epoch too large"));
  if (!MayBeAnnounced(packet.header.ip)) return Failure(std::string("bad address"));
  if (auto reason = GetBody(packet, reader, frame)) return Failure(std::move(*reason));
  const auto* update = std::get_if<UpdateBody>(&packet.body);
  if (update != nullptr && update->config_epoch > kMaxEpoch) return Failure(std::string("epoch too large"));
  return packet;
}

}  // namespace respite
