#include "server/sentinel/hello_protocol.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr size_t kFields = 8;

int PortOf(Bytes text) { return static_cast<int>(std::strtol(std::string(text).c_str(), nullptr, 10)); }
uint64_t EpochOf(Bytes text) { return std::strtoull(std::string(text).c_str(), nullptr, 10); }

// Returns whether the text is the ID of a Sentinel: 40 lower-case hexadecimal digits. Other texts are refused, because
// the ID is written to sentinel.conf unchanged.
bool IsId(Bytes text) {
  constexpr size_t kLength = 40;
  return text.size() == kLength &&
         std::ranges::all_of(text, [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

void HelloProtocol::ReceiveMessage(Instance& instance, const ReplyTree& reply) {
  instance.link->hello_heard_ms = core_.NowMs();
  const bool is_list = reply.kind == ReplyKind::kArray || reply.kind == ReplyKind::kPush;
  if (!is_list || reply.children.size() != 3 || reply.children[0].text != "message") return;
  Receive(reply.children[2].text);
}

// Handles a hello message. Ignores a message of this Sentinel itself, an invalid one, and one about a primary that this
// Sentinel does not watch. Takes over a newer epoch and a newer address of the primary. If the sender's id was known
// with another address, updates the address, because the Sentinel has moved. If another id was known at the sender's
// address, removes the Sentinel with that id.
void HelloProtocol::Receive(Bytes message) {
  const std::vector<Bytes> fields = SplitOn(message, ',');
  if (fields.size() != kFields) return;
  Primary* const primary = core_.state.Find(fields[4]);
  if (primary == nullptr) return;
  const Hello hello = {.ip = std::string(fields[0]),
                       .port = PortOf(fields[1]),
                       .id = std::string(fields[2]),
                       .current_epoch = EpochOf(fields[3]),
                       .primary_host = std::string(fields[5]),
                       .primary_port = PortOf(fields[6]),
                       .config_epoch = EpochOf(fields[7])};
  if (hello.id == core_.state.id || !IsValid(hello)) return;
  PeerSentinel* const sender = FindOrAddSender(*primary, hello);
  ApplyEpoch(*primary, hello.current_epoch);
  if (sender == nullptr) return;
  ApplyConfig(*primary, *sender, hello);
  sender->last_hello_ms = core_.NowMs();
}

bool HelloProtocol::IsValid(const Hello& hello) const {
  const bool has_addresses =
      core_.ResolveAddress(hello.ip, hello.port, SentinelCore::Accept::kReported).ok() &&
      core_.ResolveAddress(hello.primary_host, hello.primary_port, SentinelCore::Accept::kReported).ok();
  return IsId(hello.id) && has_addresses && hello.primary_port != 0 && hello.current_epoch <= kMaxSentinelEpoch &&
         hello.config_epoch <= kMaxSentinelEpoch;
}

PeerSentinel* HelloProtocol::FindOrAddSender(Primary& primary, const Hello& hello) {
  const auto known = primary.sentinels.find(hello.id);
  if (known != primary.sentinels.end() && known->second->address.IsAt(hello.ip, hello.port)) return known->second.get();
  const bool has_moved = ForgetFormerSentinel(primary, hello);
  if (!has_moved && !list_.MakeRoomForSentinel(primary)) return nullptr;
  const auto added = list_.AddSentinel(primary, hello.id, hello.ip, hello.port, SentinelCore::Accept::kReported);
  if (!added.ok()) return nullptr;
  PeerSentinel& sentinel = *added.value();
  if (has_moved) {
    list_.UpdateSentinelAddress(sentinel);
  } else {
    events_.Tell(LogLevel::kNotice, "+sentinel", sentinel);
  }
  core_.SaveSoon();
  return &sentinel;
}

bool HelloProtocol::ForgetFormerSentinel(Primary& primary, const Hello& hello) {
  if (primary.sentinels.erase(hello.id) != 0) {
    events_.Tell(LogLevel::kNotice, "+sentinel-address-switch", primary,
                 StrCat(" ip ", hello.ip, " port ", hello.port, " for ", hello.id));
    return true;
  }
  const PeerSentinel* const other = InstanceList::FindSentinelAt(primary, hello.ip, hello.port);
  if (other != nullptr) {
    events_.Tell(LogLevel::kNotice, "+sentinel-invalid-addr", *other);
    list_.ForgetSentinel(std::string(other->name));
  }
  return false;
}

void HelloProtocol::ApplyEpoch(Primary& primary, uint64_t epoch) {
  if (epoch <= core_.state.current_epoch) return;
  core_.state.current_epoch = epoch;
  core_.SaveSoon();
  events_.ReportPrimaryEvent(LogLevel::kWarning, "+new-epoch", primary, std::to_string(epoch));
}

void HelloProtocol::ApplyConfig(Primary& primary, const PeerSentinel& sender, const Hello& hello) {
  if (hello.config_epoch <= primary.config_epoch) return;
  primary.config_epoch = hello.config_epoch;
  core_.SaveSoon();
  if (hello.primary_port == primary.address.port && core_.IsHostOf(primary.address, hello.primary_host)) return;
  events_.Tell(LogLevel::kWarning, "+config-update-from", sender);
  events_.ReportPrimaryEvent(LogLevel::kWarning, "+switch-master", primary,
                             StrCat(primary.name, " ", core_.state.HostAndPortToAnnounce(primary.address), " ",
                                    hello.primary_host, " ", hello.primary_port));
  const SentinelAddress former = primary.address;
  list_.ChangeAddress(primary, hello.primary_host, hello.primary_port);
  events_.RunReconfigurationScript(primary, SentinelEvents::FailoverPart::kObserver, former, primary.address);
}

std::string HelloProtocol::OwnIp(const Instance& instance) const {
  const std::string& announced = core_.state.options.announce_ip;
  return announced.empty() ? instance.link->command_connection->LocalIp() : announced;
}

void HelloProtocol::Send(Instance& instance) {
  if (instance.link->IsDisconnected()) return;
  const std::string ip = OwnIp(instance);
  if (ip.empty()) return;  // the connection is not established yet
  const SentinelState& state = core_.state;
  const Primary& primary = instance.primary;
  const SentinelAddress& address = CurrentAddress(primary);
  const int port = state.options.announce_port != 0 ? state.options.announce_port : core_.host.Port();
  const std::string message = StrCat(ip, ",", port, ",", state.id, ",", state.current_epoch, ",", primary.name, ",",
                                     core_.state.HostToAnnounce(address), ",", address.port, ",", primary.config_epoch);
  instance.link->command_connection->Send(instance, {CommandOf(instance, "PUBLISH"), kChannel, message},
                                          [this, &instance](const ReplyTree& reply) {
                                            if (!reply.IsError()) instance.last_publish_ms = core_.NowMs();
                                          });
}

void HelloProtocol::PublishHellosSoon(Primary& primary) const {
  const int64_t due_ms = core_.NowMs() - core_.periods().publish_period_ms - 1;
  primary.last_publish_ms = due_ms;
  for (const auto& [name, replica] : primary.replicas) replica->last_publish_ms = due_ms;
  for (const auto& [id, sentinel] : primary.sentinels) sentinel->last_publish_ms = due_ms;
}

}  // namespace respite
