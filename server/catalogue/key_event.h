// KeyEvent: the name of a keyspace event, and the class of events (in notify-keyspace-events) to which it belongs.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace respite {

// The bits of the directive notify-keyspace-events, with their letters. K and E select the kinds of channels (keyspace,
// keyevent) that get a message. The other bits select classes of events, except S, T, I and V below.
inline constexpr uint32_t kNotifyKeyspace = 1U << 0;      // K
inline constexpr uint32_t kNotifyKeyevent = 1U << 1;      // E
inline constexpr uint32_t kNotifyGeneric = 1U << 2;       // g
inline constexpr uint32_t kNotifyString = 1U << 3;        // $
inline constexpr uint32_t kNotifyList = 1U << 4;          // l
inline constexpr uint32_t kNotifySet = 1U << 5;           // s
inline constexpr uint32_t kNotifyHash = 1U << 6;          // h
inline constexpr uint32_t kNotifyZset = 1U << 7;          // z
inline constexpr uint32_t kNotifyExpired = 1U << 8;       // x
inline constexpr uint32_t kNotifyEvicted = 1U << 9;       // e
inline constexpr uint32_t kNotifyStream = 1U << 10;       // t
inline constexpr uint32_t kNotifyKeyMiss = 1U << 11;      // m, not part of A
inline constexpr uint32_t kNotifyModule = 1U << 13;       // d
inline constexpr uint32_t kNotifyNewKey = 1U << 14;       // n, not part of A
inline constexpr uint32_t kNotifyOverwritten = 1U << 15;  // o, not part of A
inline constexpr uint32_t kNotifyTypeChanged = 1U << 16;  // c, not part of A
inline constexpr uint32_t kNotifyArray = 1U << 21;        // a
// These bits select the channels of subkey events, which name the fields of a hash that were changed or have expired.
inline constexpr uint32_t kNotifySubkeyspace = 1U << 17;       // S
inline constexpr uint32_t kNotifySubkeyevent = 1U << 18;       // T
inline constexpr uint32_t kNotifySubkeyspaceitem = 1U << 19;   // I
inline constexpr uint32_t kNotifySubkeyspaceevent = 1U << 20;  // V
inline constexpr uint32_t kNotifySubkeys =
    kNotifySubkeyspace | kNotifySubkeyevent | kNotifySubkeyspaceitem | kNotifySubkeyspaceevent;
inline constexpr uint32_t kNotifyAll = kNotifyGeneric | kNotifyString | kNotifyList | kNotifySet | kNotifyHash |
                                       kNotifyZset | kNotifyExpired | kNotifyEvicted | kNotifyStream | kNotifyModule |
                                       kNotifyArray;  // A

// The name of a keyspace event. A string literal converts to a KeyEvent, as in `ReportChange("lpush")`, but only if
// Redis has an event of this name: other names do not compile. Both sides of the operator ?: must name the type: `left
// ? KeyEvent("lpush") : KeyEvent("rpush")`.
class KeyEvent {  // the name of a keyspace event, and its class in notify-keyspace-events
 public:
  consteval KeyEvent(const char* name) : name_(name), kind_(KindOf(name)) {}  // NOLINT: implicit on purpose

  constexpr Bytes Name() const { return name_; }
  constexpr uint32_t Kind() const { return kind_; }  // the event's class: one of kNotifyGeneric to kNotifyTypeChanged

 private:
  static consteval bool IsOneOf(Bytes name, Bytes names) {  // whether `names` (separated by blanks) contains `name`
    for (size_t end = 0; end != Bytes::npos && !names.empty(); names.remove_prefix(end == Bytes::npos ? 0 : end + 1)) {
      end = names.find(' ');
      if (names.substr(0, end) == name) return true;
    }
    return false;
  }
  static consteval uint32_t KindOf(Bytes name);  // an event's class (kNotify… bit); does not compile for unknown names

  Bytes name_;
  uint32_t kind_;  // a kNotify… bit
};

consteval uint32_t KeyEvent::KindOf(Bytes name) {  // the kNotify… bit of an event's class
  if (IsOneOf(name, "del expire persist rename_from rename_to move_from move_to copy_to restore")) {
    return kNotifyGeneric;
  }
  if (IsOneOf(name, "set setrange append incrby incrbyfloat setbit pfadd")) return kNotifyString;
  if (IsOneOf(name, "lpush rpush lpop rpop linsert lset lrem ltrim sortstore")) return kNotifyList;
  if (IsOneOf(name, "sadd srem spop sinterstore sunionstore sdiffstore")) return kNotifySet;
  if (IsOneOf(name, "hset hdel hincrby hincrbyfloat hexpire hpersist hexpired")) return kNotifyHash;
  if (IsOneOf(name,
              "zadd zincr zrem zpopmin zpopmax zremrangebyrank zremrangebyscore zremrangebylex zrangestore "
              "zunionstore zinterstore zdiffstore georadiusstore geosearchstore")) {
    return kNotifyZset;
  }
  if (IsOneOf(name,
              "xadd xdel xtrim xsetid xgroup-create xgroup-createconsumer xgroup-delconsumer xgroup-destroy "
              "xgroup-setid")) {
    return kNotifyStream;
  }
  if (IsOneOf(name, "arset armset ardel ardelrange arinsert arring arseek")) return kNotifyArray;
  if (IsOneOf(
          name,
          "json.set json.mset json.merge json.del json.numincrby json.nummultby json.strappend json.toggle json.clear "
          "json.arrappend json.arrinsert json.arrpop json.arrtrim")) {
    return kNotifyModule;
  }
  if (IsOneOf(name, "expired")) return kNotifyExpired;
  if (IsOneOf(name, "evicted")) return kNotifyEvicted;
  if (IsOneOf(name, "keymiss")) return kNotifyKeyMiss;
  if (IsOneOf(name, "new")) return kNotifyNewKey;
  if (IsOneOf(name, "overwritten")) return kNotifyOverwritten;
  if (IsOneOf(name, "type_changed")) return kNotifyTypeChanged;
  throw "no such keyspace event";  // fails at compile time
}

}  // namespace respite
