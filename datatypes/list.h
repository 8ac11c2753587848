// List: a list of texts. Small ones are a listpack inside the entry ("listpack"), larger ones a ChunkedList
// ("quicklist").
//
// A list changes its encoding where Redis changes it:
//   - before elements are added: to chunks when the listpack, with the bare length of what comes, would be over
//     list-max-listpack-size;
//   - after elements were taken out or replaced: back to a listpack when a single chunk is left and it is at most half
//     of the limit.
//
// Texts given to a changing method must not be views of the list itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "datatypes/chunked_list.h"
#include "datatypes/listpack.h"
#include "datatypes/value_slot.h"

namespace respite {

enum class ListSide : uint8_t { kBefore, kAfter };

class List : public Collection {
 public:
  static constexpr ValueType kType = ValueType::kList;
  static constexpr ValueForm kFirstForm = ValueForm::kListpack;
  static Bytes FirstPacked() { return Listpack::Empty(); }

  explicit List(const CollectionPlace& place) : Collection(place) {}

  // Cost: O(1).
  size_t Size() const;
  bool IsEmpty() const;

  // Requires for all below: Exists().

  // Pushes one after the other, so that the last is outermost. Cost: O(1) each in chunks, O(bytes) at the head of a
  // listpack.
  void Push(ListEnd end, std::span<const Bytes> elements);
  // Requires: not empty.
  void Pop(ListEnd end);
  // Takes the element at one end and puts it at the other, or back. Requires: not empty.
  void Rotate(ListEnd from, ListEnd to);

  // Puts `element` beside the first element that equals `pivot`; false when there is none. Cost: O(n).
  bool Insert(Bytes pivot, ListSide side, Bytes element);
  // False when there is no such index.
  bool Replace(size_t index, Bytes element);
  // Requires: index + count <= Size().
  void EraseRange(size_t index, size_t count);
  // Removes elements equal to `element`, at most `most`, beginning at one end; answers how many. Cost: O(n).
  size_t EraseEqual(Bytes element, size_t most, ListEnd from);

 private:
  friend class ListCursor;
  bool IsPacked() const { return slot_.Form() == ValueForm::kListpack; }
  Listpack Packed() const { return Listpack(slot_.View()); }
  ChunkedList& Chunks() const { return slot_.As<ChunkedList>(); }
  ChunkLimit Limit() const { return ChunkLimit(limits_->list_max_listpack_size); }

  void PrepareFor(std::span<const Bytes> elements);
  void Unpack();
  void PackIfSmall();
  void PushPacked(ListEnd end, std::span<const Bytes> elements);
  void PopOnly(ListEnd end);
  size_t ErasePackedEqual(const EncodedElement& element, size_t most, ListEnd from);
};

// Walks over a list. It dies with the first change of the list.
class ListCursor {
 public:
  // Invalid from the start when there is no such index. Cost: O(elements passed) in a listpack, else as ChunkedList.
  ListCursor(const List& list, size_t index);

  // False once it has left the list at either end.
  bool IsValid() const { return chunked_ ? chunked_->IsValid() : at_ != Listpack::kNowhere; }
  // The view is good until the cursor moves. Requires: IsValid().
  Bytes Element() { return chunked_ ? chunked_->Element() : PackedElementText(); }
  void Next() { chunked_ ? chunked_->Next() : NextPacked(); }
  void Previous() { chunked_ ? chunked_->Previous() : PreviousPacked(); }

 private:
  void NextPacked();
  void PreviousPacked();
  Bytes PackedElementText();

  Listpack packed_{Listpack::Empty()};
  size_t at_ = Listpack::kNowhere;
  IntegerText digits_{0};
  std::optional<ChunkedList::Cursor> chunked_;
};

}  // namespace respite
