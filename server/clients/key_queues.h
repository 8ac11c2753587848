// KeyQueues: a first-in, first-out queue for each key of each database, for example of the clients that wait for the
// key.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

namespace respite {

struct KeyName {  // names a key: its database and its text
  int db;         // number of the database
  std::string key;
  auto operator<=>(const KeyName&) const = default;  // NOLINT(modernize-use-nullptr): generated
};

template <class Member>
class KeyQueues {  // for each key a queue of members, first in, first out
 public:
  struct Queue {                // the queue of one key
    std::list<Member> members;  // the queue's members in order of arrival; never empty
    bool is_ready = false;      // true: BlockedClients has the key in ready_keys_
  };
  class Place {  // the position of a member in a queue; valid until the member is removed
   public:
    const KeyName& Name() const { return row_->first; }  // the key whose queue this is
    Member& operator*() const { return *at_; }           // the member at this place
    // Orders places by their queues, in an arbitrary order. Two places in the queue of one key count as equal, so a
    // std::set of places holds at most one place of each key.
    bool operator<(const Place& other) const { return std::less<>()(row_, other.row_); }

   private:
    friend KeyQueues;
    std::pair<const KeyName, Queue>* row_ = nullptr;  // the queue and its key
    typename std::list<Member>::iterator at_;         // the member's position in the queue
  };

  explicit KeyQueues(const HashKey& hash_key) : rows_(0, Hasher{hash_key}, Same{}) {}

  bool IsEmpty() const { return rows_.empty(); }  // true: no key has members
  size_t Keys() const { return rows_.size(); }    // number of keys that have members

  // Appends a member to the queue of the key, and returns its place. Cost: O(1).
  Place Add(int db, Bytes key, Member member);
  // Swaps the member at `place` with the next member. Returns the next member, or null if there is none. So a member
  // can serve as a cursor that steps along the queue while others are added and removed. Cost: O(1).
  Member* StepOverNext(const Place& place) {  // swaps the member at `place` with the next, returns that; null: none
    std::list<Member>& members = place.row_->second.members;
    const auto next = std::next(place.at_);
    if (next == members.end()) return nullptr;
    members.splice(place.at_, members, next);
    return &*next;
  }
  // Cost: O(1).
  void MoveToFront(const Place& place) {  // makes the member the first one of its queue
    std::list<Member>& members = place.row_->second.members;
    members.splice(members.begin(), members, place.at_);
  }
  // Removes the member at this place. Cost: O(1) amortised.
  void Remove(const Place& place) {  // removes the member; also removes an empty queue
    std::list<Member>& members = place.row_->second.members;
    members.erase(place.at_);
    if (!members.empty()) return;
    rows_.erase(rows_.find(place.row_->first));
    ShrinkSparse(rows_);
  }
  Queue* Find(int db, Bytes key) {  // the queue of the key; null: the key has no members
    auto row = rows_.find(View{db, key});
    return row == rows_.end() ? nullptr : &row->second;
  }
  // Calls visit(name, queue) for each queue of the database. `visit` must not add or remove queues. Cost: O(keys in the
  // queues of all databases).
  template <class Visit>
  void ForEachInDatabase(int db, Visit&& visit) {  // calls visit(name, queue) for each queue of `db`
    for (auto& [name, line] : rows_)
      if (name.db == db) visit(name, line);
  }

 private:
  struct View {  // a KeyName that owns no text, for look-ups
    int db;
    Bytes key;
  };
  struct Hasher {  // hash function of a key's name
    using is_transparent = void;
    HashKey hash_key;  // secret seed of the hash function
    size_t operator()(const View& view) const { return HashBytes(view.key, hash_key) + static_cast<uint64_t>(view.db); }
    size_t operator()(const KeyName& name) const { return (*this)(View{name.db, name.key}); }
  };
  struct Same {  // compares two names of keys
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return a.db == b.db && Bytes(a.key) == Bytes(b.key); }
  };

  std::unordered_map<KeyName, Queue, Hasher, Same> rows_;  // the queue of each key
};

template <class Member>
typename KeyQueues<Member>::Place KeyQueues<Member>::Add(int db, Bytes key, Member member) {  // appends to the queue
  auto row = rows_.find(View{db, key});
  if (row == rows_.end()) row = rows_.try_emplace(KeyName{db, std::string(key)}).first;
  Place place;
  place.row_ = &*row;
  place.at_ = row->second.members.insert(row->second.members.end(), std::move(member));
  return place;
}

}  // namespace respite
