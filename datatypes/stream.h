// Stream: the value of a key of type stream: a log of entries, and the consumer groups that read the log. An entry has
// an ID, and fields with values. Each new entry has an ID above the last ID of the stream.
//
//   call.db.Read<Stream>(key)        const Stream    ┐                          ┌ StreamIdMap of StreamBlock  entries
//   call.db.Open<Stream>(key)        Edit<Stream>    ├─► Stream::Log(): StreamLog┤
//   call.db.OpenOrCreate<Stream>     Edit<Stream>    ┘                          └ StreamGroup … by name       groups
//
//   Edit<Stream> stream = call.db.OpenOrCreate<Stream>(key);
//   StreamLog& log = stream->Log();
//   if (auto id = log.AutoId(now_ms)) log.Add(*id, fields_and_values, stream->Limits());
//   stream.ReportChange("xadd");
//
// A stream is an Object at any size (OBJECT ENCODING says "stream"). Unlike other collections, an empty stream is not
// removed, because its last ID and its groups still matter.
//
// Blocks hold entries as stream_block.h describes, end where Redis' nodes end, and are found by their first ID. Entries
// are visited in place:
//
//   for (StreamLog::Walk walk(log, from, to, StreamLog::Order::kForward); walk.IsValid(); walk.Next()) {
//     reply(walk.Id(), walk.FieldCount());
//     walk.ForEachPair([&](Bytes field, Bytes value) { … });
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datatypes/object.h"
#include "datatypes/stream_block.h"
#include "datatypes/stream_group.h"
#include "datatypes/stream_id.h"
#include "datatypes/stream_id_map.h"
#include "datatypes/stream_producers.h"
#include "datatypes/value_slot.h"

namespace respite {

// The options KEEPREF, DELREF and ACKED of XTRIM, XDELEX and others: what happens to an entry's references in consumer
// groups when the entry is deleted.
enum class GroupReferences : uint8_t {
  kKeep,                // KEEPREF: the entry stays pending
  kDelete,              // DELREF: the entry is no longer pending in any group
  kMustBeAcknowledged,  // ACKED: the entry is deleted only if all groups have read and acknowledged it
};

// Describes which of the oldest entries of a stream XTRIM or XADD removes.
struct StreamTrim {  // which old entries to remove: the options of XTRIM, and MAXLEN and MINID of XADD
  enum class Strategy : uint8_t { kNone, kMaxLength, kMinId };
  enum class Precision : uint8_t { kExact, kWholeBlocks };

  Strategy strategy = Strategy::kNone;      // kMaxLength for MAXLEN, kMinId for MINID
  Precision precision = Precision::kExact;  // kWholeBlocks for the option `~`
  uint64_t max_length = 0;                  // for kMaxLength: how many of the newest entries stay
  StreamId min_id;                          // for kMinId: entries below this ID are removed
  uint64_t limit = 0;  // LIMIT: maximum number of removed entries (0: any); a block that exceeds it stays
  GroupReferences references = GroupReferences::kKeep;  // KEEPREF, DELREF or ACKED; the last two ignore `precision`
};

// ReadCounting says how a version of Redis or Valkey counts the entries that a group has read, if entries were deleted.
enum class ReadCounting : uint8_t {
  kRedis70,  // also Redis 7.2 up to 7.2.8, 7.4 up to 7.4.3, and Valkey 7.2 and 8.0
  // kRedis72: Redis since 7.2.9 and 7.4.4. A group whose last ID is before the first entry has read none of the entries
  // that remain. The number of entries read is certain only if no entry after the group's last ID was deleted.
  kRedis72,
  kValkey81,  // also considers deletions before the first entry
};

class StreamLog final : public Object {  // a stream: its entries and consumer groups
 public:
  using Blocks = StreamIdMap<StreamBlock*>;
  using Groups = std::map<std::string, StreamGroup, std::less<>>;  // sorted by bytes, as Redis lists them
  enum class Order : uint8_t { kForward, kBackward };

  // A Walk visits the live entries with from <= ID <= to, forward or backward. Any change of the entries invalidates
  // the Walk; changes of groups do not. The constructor takes O(log n) and usually reads up to one block. A backward
  // walk first collects the entries of a block, because a block can only be read forward.
  class Walk {
   public:
    Walk(const StreamLog& log, const StreamId& from, const StreamId& to, Order order = Order::kForward);
    bool IsValid() const { return is_valid_; }  // false: no entry is left
    // All functions of Walk from here on require IsValid().
    const StreamId& Id() const { return entry_.id; }
    uint64_t FieldCount() const { return entry_.field_count; }  // number of the current entry's field-value pairs
    // ForEachPair calls visit(Bytes field, Bytes value) for each pair. The texts are valid during the call.
    template <class Visit>
    void ForEachPair(Visit&& visit) const {  // visits the fields and values of the current entry
      block_.Get()->ForEachPair(entry_, visit);
    }
    void Next() { order_ == Order::kForward ? StepForward() : StepBackward(); }

   private:
    friend class StreamLog;
    void StepForward();          // goes to the next wanted entry; without one, clears is_valid_
    void StepBackward();         // goes to the previous wanted entry; without one, clears is_valid_
    void CollectBlockEntries();  // for a backward walk: fills unvisited_entries_ from block_
    bool IsWanted(const StreamBlock::EntryView& entry) const {  // true: the entry is live and in the walk's range
      return entry.state == StreamBlock::EntryState::kLive && entry.id >= from_ && entry.id <= to_;
    }

    Blocks::Cursor block_;                                   // the block of the current entry
    std::optional<StreamBlock::Cursor> at_;                  // forward: where the walk is in block_
    std::vector<StreamBlock::EntryView> unvisited_entries_;  // backward: entries of the block still to visit
    StreamBlock::EntryView entry_{};                         // the current entry
    StreamId from_;
    StreamId to_;
    Order order_;            // forward or backward
    bool is_valid_ = false;  // false: no entry is left
  };

  StreamLog() = default;
  ~StreamLog() override;

  // Clone, Size and UsedBytes are described in Object. Size counts blocks, groups, pending entries and producers.
  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override;
  size_t UsedBytes(size_t samples) const override;  // bytes, estimated from the first `samples` blocks; 0: exact

  // A live entry is an entry that was not deleted. Cost: O(1).
  uint64_t Length() const { return length_; }            // number of live entries
  const StreamId& LastId() const { return last_id_; }    // ID of the newest entry ever added, unless XSETID set another
  const StreamId& FirstId() const { return first_id_; }  // ID of the first live entry; 0-0: no live entries
  const StreamId& LastLiveId() const { return last_live_id_; }  // ID of the last live entry; 0-0: no live entries
  // A deleted entry is stored until its block is freed. As in Redis, XTRIM MINID ~ is replicated with this ID.
  StreamId FirstStoredId() const;  // ID of the first stored entry, live or deleted; StreamId::Max(): none
  // XDEL, XDELEX and XACKDEL can raise this ID. Trimming never changes it.
  const StreamId& MaxDeletedId() const { return max_deleted_id_; }  // greatest ID that XDEL removed, or that XSETID set
  // The `entries-read` of a consumer group is never above this number.
  uint64_t EntriesAdded() const { return entries_added_; }  // number of entries ever added, unless XSETID set another
  const Blocks& blocks() const { return blocks_; }          // the blocks, by the ID of their first entry or a lower ID
  // XINFO STREAM shows the number. Cost: O(blocks).
  uint64_t RadixTreeNodes() const;  // number of nodes that Redis' radix tree of this stream would have

  // As in Redis, the ID is above LastId() even if the clock was set back.
  std::optional<StreamId> AutoId(uint64_t now_ms) const;  // the ID for XADD with `*`; nullopt: LastId() is Max()
  // The ID may be below LastId(). Returns nullopt if all sequence numbers of `ms` are used.
  std::optional<StreamId> AutoSequence(uint64_t ms) const;  // the ID for XADD with `ms-*`; nullopt: none is left
  // Adds an entry of fields and values. Requires: id > LastId(); `fields_and_values` are not views of this stream.
  // Cost: amortised O(bytes of the entry).
  void Add(const StreamId& id, std::span<const Bytes> fields_and_values, const StreamBlock::Limits& limits);
  // Cost: O(log n + size of a block).
  bool Delete(const StreamId& id);          // deletes a live entry; false: no live entry has this ID
  bool Contains(const StreamId& id) const;  // true: a live entry has this ID
  // Cost: O(number of blocks + entries of two blocks).
  uint64_t CountRange(const StreamId& from,  // number of live entries from `from` to `to`, at most `max_count`
                      const StreamId& to, uint64_t max_count) const;
  // Trim removes the oldest entries as `trim` says, and returns their number. With references other than kKeep, calls
  // before_removal(id) before it removes an entry or its references. Cost: O(removed + entries of one block). With
  // references other than kKeep, entries that stay because of a group add to the cost, and each costs O(groups * log
  // n).
  using EntryVisitor = std::function<void(const StreamId& id)>;
  uint64_t Trim(const StreamTrim& trim,  // removes the oldest entries; returns their number
                const EntryVisitor& before_removal = {});

  void SetLastId(const StreamId& id) { last_id_ = id; }  // for XSETID and loading: sets the last ID
  // Also lowers StreamGroup::entries_read of each group to at most `count`, because Redis refuses a file in which a
  // group has read more entries than were added. Cost: O(groups).
  void SetEntriesAdded(uint64_t count);       // for XSETID and loading: sets EntriesAdded()
  void SetMaxDeletedId(const StreamId& id) {  // for XSETID and loading: sets the greatest deleted ID
    max_deleted_id_ = id;
  }

  const Groups& groups() const { return groups_; }  // the consumer groups by name
  StreamGroup* FindGroup(Bytes name);               // the group of this name; null: there is none
  const StreamGroup* FindGroup(Bytes name) const;   // the group of this name; null: there is none
  // Stores EntriesAdded() instead of `entries_read` if `entries_read` is higher.
  StreamGroup* CreateGroup(Bytes name, const StreamId& last_id,  // adds a consumer group; null: the name exists
                           int64_t entries_read);
  // Sets the group's last ID to `last_id`, and its number of read entries to `entries_read`, but at most
  // EntriesAdded().
  void SetGroupPosition(StreamGroup& group,  // XGROUP SETID: sets up to where the group has read
                        const StreamId& last_id, int64_t entries_read) const;
  // Cost: O(pending / 62).
  bool DestroyGroup(Bytes name);  // removes a group and its pending entries; false: there is no such group
  // The entry need not exist. Cost: O(groups * log n).
  bool IsReferenced(const StreamId& id) const;  // true: some group has not read or not acknowledged this entry
  // Cost: O(groups * log n).
  bool DropReferences(const StreamId& id);  // makes the entry pending in no group; false: the entry was not pending
  // Sets the group's last ID to `id`. If the count of read entries is exact, adds one to it, up to EntriesAdded().
  // Otherwise sets it to EstimateEntriesRead(id), which may be unknown, but leaves it unchanged if no entry was ever
  // added. Requires: `id` is above the group's last ID.
  void AdvanceGroup(StreamGroup& group, const StreamId& id,  // notes that the group has read the entry `id`
                    ReadCounting counting = ReadCounting::kRedis72) const;
  // Returns 0 if no entry was ever added. Returns kUnknownCount, except in three cases: (1) `id` is the last ID. (2)
  // `id` is below the last ID, and there are no live entries. (3) `id` is not above the first live entry, and XDEL has
  // removed no entry after the first live one. With kValkey81, XDEL must also have removed no entry after `id`, unless
  // `id` is 0-0.
  int64_t EstimateEntriesRead(const StreamId& id,  // how many of all added entries are up to `id`, or kUnknownCount
                              ReadCounting counting = ReadCounting::kRedis72) const;
  // Deletions can make the number unknown.
  std::optional<int64_t> LagOf(const StreamGroup& group,  // how many entries the group has not read; nullopt: unknown
                               ReadCounting counting = ReadCounting::kRedis72) const;

  const StreamProducers* producers() const { return producers_.get(); }  // state of XADD IDMP; null: never used
  // Creates the StreamProducers with the default limits if the stream has none.
  StreamProducers& EnsureProducers() {  // the state of XADD IDMP; created if there is none
    if (producers_ == nullptr) producers_ = std::make_unique<StreamProducers>();
    return *producers_;
  }

  void SetProducers(StreamProducers&& producers) {  // for loading files: sets the state of XADD IDMP
    producers_ = std::make_unique<StreamProducers>(std::move(producers));
  }

  // LoadBlock and LoadEntry restore blocks from a file, including deleted entries. They return false, and the stream
  // must not be used any more, if the ID of a block or of a live entry is not above the last live entry, or is below
  // the ID of its own block. LoadEntry drops a deleted entry that does not follow the entry before it. FinishLoading
  // finds the first and the last live entry.
  bool LoadBlock(const StreamId& id, std::span<const Bytes> names);  // begins a block; false: `id` is too low
  bool LoadEntry(const StreamId& id,  // restores a live or deleted entry; false: a live one whose ID is too low
                 std::span<const Bytes> fields_and_values, StreamBlock::EntryState state);
  void FinishLoading();  // after the last LoadEntry: finds the first and the last live entry

  // Cost: O(n).
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  struct Place {                   // where a live entry is stored; block.AtEnd(): there is no such entry
    Blocks::Cursor block;          // the block of the entry
    StreamBlock::EntryView entry;  // the entry itself
  };
  Place Find(const StreamId& id) const;
  StreamBlock*& LastBlock() { return blocks_.At(blocks_.Last()); }  // the last block; requires: there are blocks
  // Frees each last block that has only deleted entries, if its last ID is `id` or greater. Such blocks exist after
  // XSETID has lowered the last ID. Returns true if stored entries (live or deleted) are left, and all are below `id`.
  bool DropDeletedTail(const StreamId& id);  // frees deleted last blocks that reach `id`; true: the last is below it
  void DropEmptyTailBlock();                 // frees the last block if it has no entries, live or deleted
  void BeginBlock(const StreamId& id, StreamBlock* block);  // seals the last block, and adds `block` after it
  void DropBlock(const StreamId& id, StreamBlock* block);   // removes a block from blocks_, and frees it
  bool MayDropWholeBlock(const StreamTrim& trim, const StreamBlock& block) const;  // true: `trim` keeps none of it
  bool KeepsFrom(const StreamTrim& trim, const StreamId& id) const {  // true: `trim` removes nothing from `id` on
    return trim.strategy == StreamTrim::Strategy::kMaxLength ? length_ <= trim.max_length : id >= trim.min_id;
  }
  uint64_t TrimInsideBlock(const StreamTrim& trim,  // deletes what `trim` removes from one block; returns how many
                           const StreamId& block_id, StreamBlock& block, const EntryVisitor& before_removal = {});
  uint64_t TrimWithReferences(const StreamTrim& trim,  // Trim for the options DELREF and ACKED
                              const EntryVisitor& before_removal);
  void UpdateFirstId();     // finds the first live entry again, and sets first_id_
  void UpdateLastLiveId();  // finds the last live entry again, and sets last_live_id_
  // Returns false if there are no live entries. Also returns false if all deleted IDs are below the first live entry,
  // unless `counting` is kValkey81.
  bool HasTombstonesFrom(const StreamId& id,  // true: XDEL removed an entry at or after `id`, and not before FirstId()
                         ReadCounting counting) const;
  // `next`: ID of the entry that the group reads next; only ReadCounting::kRedis70 uses it.
  bool IsReadCountExact(const StreamGroup& group, const StreamId& next,  // true: group.entries_read is exact
                        ReadCounting counting) const;

  Blocks blocks_;                               // all blocks; the key is at most the ID of the block's first entry
  uint64_t length_ = 0;                         // number of live entries
  uint64_t entries_added_ = 0;                  // how many entries were ever added, unless XSETID set another number
  StreamId first_id_;                           // ID of the first live entry; 0-0: none
  StreamId last_id_;                            // ID of the newest entry ever added, unless XSETID set another
  StreamId last_live_id_;                       // ID of the last live entry; 0-0: none
  StreamId max_deleted_id_;                     // the greatest ID that XDEL removed, unless XSETID set another
  Groups groups_;                               // the consumer groups by name
  std::unique_ptr<StreamProducers> producers_;  // state of XADD … IDMP; null: never used
};

class Stream : public Collection {  // gives access to the stream of one key
 public:
  static constexpr ValueType kType = ValueType::kStream;  // the type of an entry that holds a stream
  static constexpr bool kStaysWhenEmpty = true;           // true: a stream without entries keeps its key
  static std::unique_ptr<Object> MakeInitialObject() { return std::make_unique<StreamLog>(); }  // makes an empty stream

  explicit Stream(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return !Exists() || Log().Length() == 0; }  // true: no live entries, or no such key
  // Requires: Exists().
  StreamLog& Log() { return slot_.As<StreamLog>(); }
  const StreamLog& Log() const { return slot_.As<StreamLog>(); }
  StreamBlock::Limits Limits() const {  // how many bytes and entries a block may have
    return {limits_->stream_node_max_bytes, static_cast<uint64_t>(limits_->stream_node_max_entries)};
  }
};

}  // namespace respite
