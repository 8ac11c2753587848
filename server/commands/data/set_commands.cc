#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "server/catalogue/refusals.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/data/scan.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace {

// === Adding and removing members

// Returns how many bytes a new set reserves for these members. The limit is 512 bytes, because a larger set is not
// stored inside its entry.
size_t CapacityForMembers(std::span<const Bytes> members) {
  constexpr size_t kMax = 512;
  size_t room = 0;
  for (Bytes member : members.first(std::min(members.size(), kMax))) room += member.size() + 2;
  return std::min(room, kMax);
}

struct SAdd {
  static constexpr CommandSpec spec = {.syntax = "SADD key member...",
                                       .summary = "Adds members to a set.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of members to add",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> members = call.args.Rest();
    Edit<Set> set = call.db.OpenOrCreate<Set>(key, CapacityForMembers(members));
    set->PrepareToAdd(members[0], members.size());
    int64_t added = 0;
    ForEachMemberWord(*set, members, [&](Bytes member) {
      added += set->Add(member) ? 1 : 0;
      return true;
    });
    if (added > 0) set.ReportChange("sadd", static_cast<uint64_t>(added));
    call.reply.Integer(added);
  }
};

struct SRem {
  static constexpr CommandSpec spec = {.syntax = "SREM key member...",
                                       .summary = "Removes members from a set.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of members to remove",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    Edit<Set> set = call.db.Open<Set>(call.args.Next());
    if (!set) return call.reply.Integer(0);
    int64_t removed = 0;
    ForEachMemberWord(*set, call.args.Rest(), [&](Bytes member) {
      removed += set->Remove(member) ? 1 : 0;
      return !set->IsEmpty();
    });
    if (removed > 0) set.ReportChange("srem", static_cast<uint64_t>(removed));
    call.reply.Integer(removed);
  }
};

struct SMove {
  static constexpr CommandSpec spec = {.syntax = "SMOVE source:key destination:key member",
                                       .summary = "Moves a member from one set to another.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    auto [from, to, member] = call.args.Take<Bytes, Bytes, Bytes>();
    Edit<Set> source = call.db.Open<Set>(from);
    call.db.Find(to);  // Redis: looks up both keys, so an expired one is deleted even if the source is missing
    if (!source) return call.reply.Integer(0);
    if (from == to) return call.reply.Integer(source->Contains(member) ? 1 : 0);
    call.db.Open<Set>(to);  // throws for another type
    if (!source->Remove(member)) return call.reply.Integer(0);
    source.ReportChange("srem");
    source.Close();
    Edit<Set> target = call.db.OpenOrCreate<Set>(to, CapacityForMembers({&member, 1}));
    if (target->IsEmpty()) target->PrepareToAdd(member, 1);
    if (target->Add(member)) target.ReportChange("sadd");
    call.reply.Integer(1);
  }
};

// === Reading

struct SIsMember {
  static constexpr CommandSpec spec = {.syntax = "SISMEMBER key member",
                                       .summary = "Returns whether a set has a member.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    auto [key, member] = call.args.Take<Bytes, Bytes>();
    call.reply.Integer(call.db.Read<Set>(key).Contains(member) ? 1 : 0);
  }
};

struct SMIsMember {
  static constexpr CommandSpec spec = {.syntax = "SMISMEMBER key member...",
                                       .summary = "Returns whether a set has each of several members.",
                                       .since = "6.2.0",
                                       .complexity = "O(N), N being the number of members to look for",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Set set = call.db.Read<Set>(call.args.Next());
    call.reply.Array(call.args.Left());
    ForEachMemberWord(set, call.args.Rest(), [&](Bytes member) {
      call.reply.Integer(set.Contains(member) ? 1 : 0);
      return true;
    });
  }
};

struct SCard {
  static constexpr CommandSpec spec = {.syntax = "SCARD key",
                                       .summary = "Counts the members of a set.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) { call.reply.Integer(static_cast<int64_t>(call.db.Read<Set>(call.args.Next()).Size())); }
};

void ReplyMembers(Call& call, const Set& set) {
  call.reply.Set(set.Size());
  set.ForEach([&](const PackedElement& member) { ReplyMember(call.reply, member); });
}

struct SMembers {
  static constexpr CommandSpec spec = {.syntax = "SMEMBERS key",
                                       .summary = "Returns all members of a set.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the size of the set",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) { ReplyMembers(call, call.db.Read<Set>(call.args.Next())); }
};

struct SScan {
  static constexpr CommandSpec spec = {
      .syntax = "SSCAN key cursor:integer [MATCH pattern:pattern] [COUNT count:integer]",
      .summary = "Iterates over the members of a set.",
      .since = "2.8.0",
      .complexity = "O(1) for each call, O(N) for a whole round, N being the size of the set",
      .group = CommandGroup::kSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t cursor = ParseCursor(call, call.args.Next());
    const Set set = call.db.Read<Set>(key);
    if (!set.Exists()) return ReplyPage(call, 0, {});
    const ScanOptions options = ParseScanOptions(call.args, ScanKind::kMembers);
    std::vector<PackedElement> met;
    auto meet = [&](const PackedElement& member) {
      if (options.Matches(ElementText(member).View())) met.push_back(member);
    };
    uint64_t next = 0;  // a packed set is returned in one step
    if (const MemberTable* table = set.Table()) {
      next = WalkTable(*table, cursor, options.count, [&](const Member& member) { meet({.text = member.Text()}); });
    } else {
      set.ForEach(meet);
    }
    ReplyPage(call, next, met);
  }

 private:
  static void ReplyPage(Call& call, uint64_t next, const std::vector<PackedElement>& members) {
    call.reply.Array(2);
    call.reply.Bulk(IntegerText::FromUnsigned(next));
    call.reply.Array(members.size());
    for (const PackedElement& member : members) ReplyMember(call.reply, member);
  }
};

// === Random members

void PopOneMember(Call& call, Bytes key) {
  Edit<Set> set = call.db.Open<Set>(key);
  if (!set) return call.reply.Null();
  set->Pop(1, call.random, [&](const PackedElement& member) {
    ReplyMember(call.reply, member);
    call.effect.Replace("SREM", key, ElementText(member).View());
  });
  set.ReportChange("spop");
}

void PopAll(Call& call, Edit<Set>& set) {
  const bool lazily = call.services.env.settings.lazyfree_lazy_server_del;
  const size_t size = set->Size();
  ReplyMembers(call, *set);
  FreeReplaced(call, set.Take());
  set.ReportChange("spop", size);
  set.ReportChangeUncounted("del");
  call.effect.Replace(lazily ? Bytes("UNLINK") : Bytes("DEL"), set.Key());
}

// Collects the members that SPOP has removed. Propagates them as SREM commands of at most 1024 members each.
class PoppedWords {
 public:
  PoppedWords(Call& call, Bytes key) : call_(call), key_(key) {}
  void Add(const PackedElement& member) {
    if (!call_.effect.IsRecording()) return;
    if (words_.empty()) words_ = {"SREM", std::string(key_)};
    words_.emplace_back(ElementText(member).View());
    if (words_.size() == kMax + 2) Flush();
  }
  void Flush() {
    if (!words_.empty()) call_.effect.Replace(words_);
    words_ = {};
  }

 private:
  static constexpr size_t kMax = 1024;
  Call& call_;
  Bytes key_;
  std::vector<std::string> words_;
};

void PopManyMembers(Call& call, Bytes key, size_t count) {
  Edit<Set> set = call.db.Open<Set>(key);
  if (!set || count == 0) return call.reply.Set(0);
  if (count >= set->Size()) return PopAll(call, set);
  PoppedWords words(call, key);
  call.reply.Set(count);
  set->Pop(count, call.random, [&](const PackedElement& member) {
    ReplyMember(call.reply, member);
    words.Add(member);
  });
  words.Flush();
  set.ReportChange("spop", count);
}

struct SPop {
  static constexpr CommandSpec spec = {.syntax = "SPOP key [count:integer@3.2.0]",
                                       .summary = "Removes random members of a set and returns them.",
                                       .since = "1.0.0",
                                       .complexity = "O(1) without a count, O(N) with one, N being the count",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.AtEnd()) return PopOneMember(call, key);
    if (call.args.Left() > 1) throw Refusal{refusals::kSyntax};
    PopManyMembers(call, key, call.args.NextCount(0, refusals::kMustBePositive));
  }
};

void ReplySample(Call& call, const Set& set, size_t count) {
  call.reply.Array(std::min(count, set.Size()));
  auto reply_one = [&](const PackedElement& member) { ReplyMember(call.reply, member); };
  count >= set.Size() ? set.ForEach(reply_one) : set.Sample(count, call.random, reply_one);
}

void ReplySampleWithRepeats(Call& call, const Set& set, size_t count) {
  RandomReplyLimit limit(call, count);
  call.reply.Array(count);
  set.SampleWithRepeats(count, call.random, [&](const PackedElement& member) {
    ReplyMember(call.reply, member);
    limit.Check();
  });
}

struct SRandMember {
  static constexpr CommandSpec spec = {
      .syntax = "SRANDMEMBER key [count:integer@2.6.0]",
      .summary = "Returns random members of a set; with a negative count they may repeat.",
      .since = "1.0.0",
      .complexity = "O(1) without a count, O(N) with one, N being its absolute value",
      .group = CommandGroup::kSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.AtEnd()) {
      const Set set = call.db.Read<Set>(key);
      if (!set.Exists()) return call.reply.Null();
      return set.PickRandom(call.random, [&](const PackedElement& member) { ReplyMember(call.reply, member); });
    }
    if (call.args.Left() > 1) throw Refusal{refusals::kSyntax};
    const int64_t count = call.args.NextInteger();
    if (count == std::numeric_limits<int64_t>::min()) throw Refusal{refusals::kNotLong};
    const Set set = call.db.Read<Set>(key);
    if (!set.Exists() || count == 0) return call.reply.Array(0);
    if (count > 0) return ReplySample(call, set, static_cast<size_t>(count));
    ReplySampleWithRepeats(call, set, static_cast<size_t>(-count));
  }
};

constexpr auto kSetCommands =
    Family<SAdd, SCard, SIsMember, SMembers, SMIsMember, SMove, SPop, SRandMember, SRem, SScan>();

}  // namespace

std::span<const CommandCard> SetCommands() { return kSetCommands; }

}  // namespace respite
