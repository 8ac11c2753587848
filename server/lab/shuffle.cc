#include "server/lab/shuffle.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "protocol/reply_cutter.h"

namespace respite {

namespace {

// How the replies of a command are shuffled. `together` is the number of elements that stay together: 2 for a field and
// its value. `is_walk` is true for SCAN and similar commands, whose replies begin with a cursor.
struct Order {
  Bytes command;
  size_t together = 1;
  bool is_walk = false;
};
constexpr std::array kOrders = {
    Order{"config|get", 2},  Order{"hgetall", 2}, Order{"hkeys"},           Order{"hscan", 2, true},
    Order{"hvals"},          Order{"keys"},       Order{"pubsub|channels"}, Order{"pubsub|shardchannels"},
    Order{"scan", 1, true},  Order{"sdiff"},      Order{"sinter"},          Order{"smembers"},
    Order{"sscan", 1, true}, Order{"sunion"},     Order{"zscan", 2, true}};
static_assert(std::ranges::is_sorted(kOrders, {}, &Order::command));

const Order* OrderOf(const Command& command) {
  const auto* const found = std::ranges::lower_bound(kOrders, Bytes(command.full_name), {}, &Order::command);
  return found != kOrders.end() && found->command == command.full_name ? found : nullptr;
}

// Returns whether the reply of HSCAN or ZSCAN has values or scores: not with the option NOVALUES or NOSCORES.
bool HasValues(std::span<const Bytes> words) {
  constexpr size_t kOptions = 3;
  size_t at = kOptions;
  while (at < words.size()) {
    if (EqualsIgnoreCase(words[at], "novalues") || EqualsIgnoreCase(words[at], "noscores")) return false;
    at += 2;  // MATCH and COUNT have an argument
  }
  return true;
}

// A reply, divided into its beginning, which stays in place, and the parts that are shuffled.
struct Parts {
  Bytes head;
  std::vector<Bytes> parts;
};

std::optional<Parts> Divide(Bytes reply, ReplyForm form, const Order& order, size_t together) {
  ReplyCutter cutter(reply, form);
  if (order.is_walk) {
    if (cutter.TakeHeader().ElementCount() != 2) return std::nullopt;
    cutter.TakeElement();
  }
  const int64_t elements = cutter.TakeHeader().ElementCount();
  if (elements <= static_cast<int64_t>(together)) return std::nullopt;
  Parts parts{.head = cutter.TakenPart(), .parts = {}};
  while (!cutter.Rest().empty()) {
    const Bytes rest = cutter.Rest();
    for (size_t i = 0; i < together; ++i) cutter.TakeElement();
    parts.parts.push_back(rest.substr(0, rest.size() - cutter.Rest().size()));
  }
  return parts;
}

}  // namespace

void Shuffle::Edit(const Command& command, std::span<const Bytes> words, Session& session, size_t reply_start) {
  const Order* const order = OrderOf(command);
  if (order == nullptr) return;
  const std::string reply = session.out.Text(reply_start);
  const size_t together = order->is_walk && !HasValues(words) ? 1 : order->together;
  auto divided = Divide(reply, session.reply_form, *order, together);
  if (!divided) return;
  auto& parts = divided->parts;
  for (size_t left = parts.size(); left > 1; --left) std::swap(parts[left - 1], parts[random_.Below(left)]);
  session.out.RollBack(reply_start);
  session.out.Append(divided->head);
  for (const Bytes part : parts) session.out.Append(part);
}

}  // namespace respite
