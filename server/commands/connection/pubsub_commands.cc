// SUBSCRIBE, PUBLISH and their variants, and PUBSUB.
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/pubsub.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/runtime/host.h"
#include "server/sentinel/sentinel.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kOnlyHello[] = "ERR Only HELLO messages are accepted by Sentinel instances.";
Refusal NotSubscribed(Bytes command) {
  return {"NOSUB '" + std::string(command) + "' command executed not in subscribed mode"};
}
Refusal NotForDenyBlocking(Bytes command) {
  return {"ERR " + std::string(command) + " isn't allowed for a DENY BLOCKING client"};
}

}  // namespace
}  // namespace refusals

namespace {

// The first element of the messages that confirm that a subscription of one kind has begun or ended.
struct Words {
  Bytes subscribed;
  Bytes unsubscribed;
};
constexpr Words WordsOf(PubSubKind kind) {
  if (kind == PubSubKind::kPattern) return {"psubscribe", "punsubscribe"};
  if (kind == PubSubKind::kShardChannel) return {"ssubscribe", "sunsubscribe"};
  return {"subscribe", "unsubscribe"};
}

// Returns the number of subscriptions that a reply reports. As in Redis, channels and patterns are counted together,
// and shard channels by themselves.
int64_t CountedWith(const Session& session, PubSubKind kind) {
  if (!session.subscriptions) return 0;
  const Subscriptions& own = *session.subscriptions;
  if (kind == PubSubKind::kShardChannel) return static_cast<int64_t>(own.Count(kind));
  return static_cast<int64_t>(own.Count(PubSubKind::kChannel) + own.Count(PubSubKind::kPattern));
}

// Confirms that a subscription to `name` has begun or ended. A null `name` means that the client had no subscription to
// end.
void Confirm(Call& call, Bytes word, PubSubKind kind, const Bytes* name) {
  call.reply.Push(3);
  call.reply.Bulk(word);
  if (name == nullptr) {
    call.reply.Null();
  } else {
    call.reply.Bulk(*name);
  }
  call.reply.Integer(CountedWith(call.session, kind));
}

// Returns whether the client may subscribe now. As in Redis, a script cannot subscribe to anything, and a transaction
// cannot subscribe to shard channels.
bool MayListen(Call& call, PubSubKind kind) {
  if (call.services.clients.current_execution.MayBlock()) return true;
  return kind != PubSubKind::kShardChannel && !call.session.IsScript();
}

void SubscribeTo(Call& call, PubSubKind kind) {
  if (!MayListen(call, kind)) throw refusals::NotForDenyBlocking(ToUpper(WordsOf(kind).subscribed));
  for (Bytes name : call.args.Rest()) {
    call.services.clients.pubsub.Subscribe(call.session, kind, name);
    Confirm(call, WordsOf(kind).subscribed, kind, &name);
  }
  call.services.execution.executor.KeepMessages(call.session);
}

// Ends all subscriptions of one kind, a thousand in each turn of the event loop, so that other clients do not wait
// long. Ends all of them immediately if the command cannot continue later, as inside a transaction.
void UnsubscribeFromAll(Call& call, PubSubKind kind) {
  constexpr size_t kPerTurn = 1000;
  const Bytes word = WordsOf(kind).unsubscribed;
  if (!call.session.subscriptions || call.session.subscriptions->Count(kind) == 0) {
    return Confirm(call, word, kind, nullptr);
  }
  for (const PubSubTopic* topic :
       call.session.subscriptions->ChannelsOfKind(kind, call.MayContinueLater() ? kPerTurn : SIZE_MAX)) {
    const std::string name = topic->name;  // the topic is deleted with its last subscriber
    const Bytes shown = name;
    call.services.clients.pubsub.Unsubscribe(call.session, kind, name);
    Confirm(call, word, kind, &shown);
  }
  if (call.session.subscriptions && call.session.subscriptions->Count(kind) != 0) call.ContinueInNextTurn();
}

void UnsubscribeFrom(Call& call, PubSubKind kind) {
  const bool has_none = call.session.subscriptions == nullptr && !call.is_resumed;
  if (has_none && call.services.env.dialect.traits.unsubscribing_needs_subscription) {
    throw refusals::NotSubscribed(WordsOf(kind).unsubscribed);
  }
  if (call.args.AtEnd()) UnsubscribeFromAll(call, kind);
  for (Bytes name : call.args.Rest()) {
    call.services.clients.pubsub.Unsubscribe(call.session, kind, name);
    Confirm(call, WordsOf(kind).unsubscribed, kind, &name);
  }
  call.services.execution.executor.KeepMessages(call.session);
}

void WriteNames(Call& call, PubSubKind kind) {
  const Bytes pattern = call.args.AtEnd() ? Bytes() : call.args.Rest()[0];
  call.reply.BulkArray(call.services.clients.pubsub.NamesMatching(kind, call.args.AtEnd() ? nullptr : &pattern));
}

void WriteSubscriberCounts(Call& call, PubSubKind kind) {
  call.reply.Array(2 * call.args.Left());
  for (Bytes name : call.args.Rest()) {
    call.reply.Bulk(name);
    call.reply.Integer(static_cast<int64_t>(call.services.clients.pubsub.SubscriberCount(kind, name)));
  }
}

constexpr uint32_t kSubscribing = kPubSub | kNoScript | kLoading | kStale;
constexpr uint32_t kPublishing = kPubSub | kLoading | kStale | kFast | kMayReplicate;
constexpr uint32_t kLooking = kPubSub | kLoading | kStale;

// Propagates a message: in a cluster to the other nodes over the cluster bus, otherwise to the replicas in the
// replication stream.
void Spread(Call& call, PacketType type, Bytes channel, Bytes message) {
  if (Cluster* cluster = call.services.cluster.cluster()) return cluster->Publish(type, channel, message);
  call.unit.RecordForReplicas(call.db.Index(), call.args.Words());
}

struct PSubscribe {
  static constexpr CommandSpec spec = {.syntax = "PSUBSCRIBE pattern:pattern...",
                                       .where = Where::kEverywhere,
                                       .summary = "Subscribes to patterns of channels.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N patterns",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing,
                                       .channels = ChannelArguments::kAllPatterns};
  static void Run(Call& call) { SubscribeTo(call, PubSubKind::kPattern); }
};

struct Publish {
  static constexpr CommandSpec spec = {.syntax = "PUBLISH channel message",
                                       .where = Where::kEverywhere,
                                       .summary = "Sends a message to the subscribers of a channel.",
                                       .since = "2.0.0",
                                       .complexity = "O(N+M) for N subscribers of the channel and M patterns",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kPublishing,
                                       .channels = ChannelArguments::kFirst};
  static void Run(Call& call) {
    auto [channel, message] = call.args.Take<Bytes, Bytes>();
    if (Sentinel* sentinel = call.services.sentinel.sentinel()) return Receive(call, *sentinel, channel, message);
    call.reply.Integer(static_cast<int64_t>(call.services.clients.pubsub.Publish(channel, message)));
    Spread(call, PacketType::kPublish, channel, message);
  }

 private:
  // Handles a hello message that another Sentinel has published on this Sentinel.
  static void Receive(Call& call, Sentinel& sentinel, Bytes channel, Bytes message) {
    if (channel != HelloProtocol::kChannel) throw Refusal{refusals::kOnlyHello};
    sentinel.hello_protocol().Receive(message);
    call.reply.Integer(1);
  }
};

struct PubSubChannels {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|CHANNELS [pattern:pattern]",
                                       .summary = "Lists the channels with subscribers.",
                                       .since = "2.8.0",
                                       .complexity = "O(N) for N channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLooking};
  static void Run(Call& call) {
    ExpectAtMostOne(call);
    WriteNames(call, PubSubKind::kChannel);
  }

  // Throws the usage error of PUBSUB if there is more than one argument. As in Redis, this is not the arity error of
  // the subcommand.
  static void ExpectAtMostOne(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, "pubsub", call.args[1]);
  }
};

struct PubSubHelp {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|HELP",
                                       .summary = "Lists the subcommands of PUBSUB.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"CHANNELS [<pattern>]", "    The channels with subscribers, all or those that match.", "NUMPAT",
                     "    The number of patterns with subscribers.", "NUMSUB [<channel> ...]",
                     "    The number of subscribers of each channel, without those of patterns.",
                     "SHARDCHANNELS [<pattern>]", "    The shard channels with subscribers, all or those that match.",
                     "SHARDNUMSUB [<shardchannel> ...]", "    How many listen to each of these shard channels."});
  }
};

struct PubSubNumPat {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|NUMPAT",
                                       .summary = "Counts the patterns with subscribers.",
                                       .since = "2.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLooking};
  static void Run(Call& call) {
    call.reply.Integer(static_cast<int64_t>(call.services.clients.pubsub.TopicCount(PubSubKind::kPattern)));
  }
};

struct PubSubNumSub {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|NUMSUB [channel...]",
                                       .summary = "Counts the subscribers of each channel.",
                                       .since = "2.8.0",
                                       .complexity = "O(N) for N channels requested",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLooking};
  static void Run(Call& call) { WriteSubscriberCounts(call, PubSubKind::kChannel); }
};

struct PubSubShardChannels {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|SHARDCHANNELS [pattern:pattern]",
                                       .summary = "Lists the shard channels with subscribers.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N shard channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLooking};
  static void Run(Call& call) {
    PubSubChannels::ExpectAtMostOne(call);
    WriteNames(call, PubSubKind::kShardChannel);
  }
};

struct PubSubShardNumSub {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB|SHARDNUMSUB [shardchannel...]",
                                       .summary = "Counts the subscribers of each shard channel.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N shard channels requested",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kLooking};
  static void Run(Call& call) { WriteSubscriberCounts(call, PubSubKind::kShardChannel); }
};

struct PUnsubscribe {
  static constexpr CommandSpec spec = {.syntax = "PUNSUBSCRIBE [pattern:pattern...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Unsubscribes from patterns, or from all.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N patterns",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing};
  static void Run(Call& call) { UnsubscribeFrom(call, PubSubKind::kPattern); }
};

struct SPublish {
  static constexpr CommandSpec spec = {.syntax = "SPUBLISH shardchannel message",
                                       .summary = "Sends a message to the subscribers of a shard channel.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N subscribers",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kPublishing,
                                       .keys = {Key(1, kKeyNotKey)},
                                       .channels = ChannelArguments::kFirst};
  static void Run(Call& call) {
    auto [channel, message] = call.args.Take<Bytes, Bytes>();
    call.reply.Integer(static_cast<int64_t>(call.services.clients.pubsub.PublishToShard(channel, message)));
    Spread(call, PacketType::kPublishShard, channel, message);
  }
};

struct SSubscribe {
  static constexpr CommandSpec spec = {.syntax = "SSUBSCRIBE shardchannel...",
                                       .summary = "Subscribes to shard channels.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing,
                                       .keys = {KeyRange(1, -1, 1, kKeyNotKey)},
                                       .channels = ChannelArguments::kAll};
  static void Run(Call& call) { SubscribeTo(call, PubSubKind::kShardChannel); }
};

struct Subscribe {
  static constexpr CommandSpec spec = {.syntax = "SUBSCRIBE channel...",
                                       .where = Where::kEverywhere,
                                       .summary = "Subscribes to channels.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing,
                                       .channels = ChannelArguments::kAll};
  static void Run(Call& call) { SubscribeTo(call, PubSubKind::kChannel); }
};

struct SUnsubscribe {
  static constexpr CommandSpec spec = {.syntax = "SUNSUBSCRIBE [shardchannel...]",
                                       .summary = "Unsubscribes from shard channels, or from all.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing,
                                       .keys = {KeyRange(1, -1, 1, kKeyNotKey)}};
  static void Run(Call& call) { UnsubscribeFrom(call, PubSubKind::kShardChannel); }
};

struct Unsubscribe {
  static constexpr CommandSpec spec = {.syntax = "UNSUBSCRIBE [channel...]",
                                       .where = Where::kEverywhere,
                                       .summary = "Unsubscribes from channels, or from all.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N channels",
                                       .group = CommandGroup::kPubSub,
                                       .flags = kSubscribing};
  static void Run(Call& call) { UnsubscribeFrom(call, PubSubKind::kChannel); }
};

struct PubSubCommand {
  static constexpr CommandSpec spec = {.syntax = "PUBSUB",
                                       .summary = "Contains the subcommands about subscriptions.",
                                       .since = "2.8.0",
                                       .group = CommandGroup::kPubSub,
                                       .arity = -2};
};

constexpr auto kPubSubCommands =
    Family<PSubscribe, Publish, PUnsubscribe, SPublish, SSubscribe, Subscribe, SUnsubscribe, Unsubscribe, PubSubCommand,
           PubSubChannels, PubSubHelp, PubSubNumPat, PubSubNumSub, PubSubShardChannels, PubSubShardNumSub>();

}  // namespace

std::span<const CommandCard> PubSubCommands() { return kPubSubCommands; }

}  // namespace respite
