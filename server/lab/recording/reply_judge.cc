#include "server/lab/recording/reply_judge.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

enum class Order : uint8_t { kMatters, kIsNone, kIsNoneWithin };  // kIsNoneWithin: also in nested replies

bool HasTip(const Command& command, Bytes tip) {
  const auto tips = SplitOn(command.Spec().tips, ' ');
  return std::ranges::find(tips, tip) != tips.end();
}

bool SpeaksOfTheServer(const Command& command) {
  const CommandGroup group = command.Spec().group;
  return group == CommandGroup::kServer || group == CommandGroup::kConnection;
}

bool RunsScripts(const Command& command) { return command.Spec().group == CommandGroup::kScripting; }

// Returns the reply with sorted elements wherever their order has no meaning, so that two replies can be compared.
ReplyTree Sorted(ReplyTree tree, Order order) {
  const Order within = order == Order::kIsNoneWithin ? order : Order::kMatters;
  for (ReplyTree& child : tree.children) child = Sorted(std::move(child), within);
  std::vector<std::string> texts;
  const size_t step = tree.kind == ReplyKind::kMap ? 2 : 1;
  if (step == 1 && tree.kind != ReplyKind::kSet && order == Order::kMatters) return tree;
  std::vector<std::pair<std::string, std::vector<ReplyTree>>> entries;
  for (size_t i = 0; i + step <= tree.children.size(); i += step) {
    const auto begin = tree.children.begin() + static_cast<ptrdiff_t>(i);
    entries.emplace_back(begin->ReadableText(), std::vector(begin, begin + static_cast<ptrdiff_t>(step)));
  }
  std::ranges::sort(entries, {}, &decltype(entries)::value_type::first);
  tree.children.clear();
  for (auto& [text, children] : entries) std::ranges::move(children, std::back_inserter(tree.children));
  return tree;
}

}  // namespace

ReplyJudge::ReplyJudge(const CommandSet& set, const std::vector<std::string>& ignored) : set_(set), ignored_(ignored) {}

const Command* ReplyJudge::Find(const std::vector<std::string>& words) const {
  const Command* const command = set_.names().Find(words[0]);
  if (command == nullptr || words.size() < 2) return command;
  const auto is_named = [&](const Command& sub) { return EqualsIgnoreCase(sub.name, words[1]); };
  const auto sub = std::ranges::find_if(command->subcommands, is_named);
  return sub == command->subcommands.end() ? command : &*sub;
}

bool ReplyJudge::IsIgnored(const Command* command, const std::string& name) const {
  const Bytes full_name = command == nullptr ? Bytes(name) : Bytes(command->full_name);
  return std::ranges::any_of(
      ignored_, [&](const std::string& pattern) { return Glob(pattern, CaseMode::kIgnore).Matches(full_name); });
}

ReplyJudge::Verdict ReplyJudge::Judge(const AskedRequest& request, const ReplyTree& recorded,
                                      const ReplyTree& replayed) const {
  const size_t count = request.queued.size();
  const auto has_all = [count](const ReplyTree& reply) {
    return reply.kind == ReplyKind::kArray && reply.children.size() == count;
  };
  if (count == 0 || !has_all(recorded) || !has_all(replayed)) return JudgeOne(request.words, recorded, replayed);
  Verdict all = Verdict::kSame;
  for (size_t i = 0; i < count; ++i) {
    const Verdict one = JudgeOne(request.queued[i], recorded.children[i], replayed.children[i]);
    if (one == Verdict::kDiffers) return one;
    if (one == Verdict::kUnjudged) all = one;
  }
  return all;
}

ReplyJudge::Verdict ReplyJudge::JudgeOne(const std::vector<std::string>& words, const ReplyTree& recorded,
                                         const ReplyTree& replayed) const {
  if (recorded == replayed) return Verdict::kSame;
  const Command* const command = Find(words);
  if (IsIgnored(command, words[0])) return Verdict::kUnjudged;
  if (recorded.IsError() || replayed.IsError() || command == nullptr) return Verdict::kDiffers;
  if (SpeaksOfTheServer(*command) || HasTip(*command, "nondeterministic_output")) {
    return recorded.kind == replayed.kind ? Verdict::kUnjudged : Verdict::kDiffers;
  }
  const Order order = HasTip(*command, "nondeterministic_output_order") ? Order::kIsNone : Order::kMatters;
  if (Sorted(recorded, order) == Sorted(replayed, order)) return Verdict::kSame;
  const auto sorted = [](const ReplyTree& reply) { return Sorted(reply, Order::kIsNoneWithin); };
  return RunsScripts(*command) && sorted(recorded) == sorted(replayed) ? Verdict::kUnjudged : Verdict::kDiffers;
}

}  // namespace respite
