// List: the value of a key of type list. A small list is a listpack inside the entry (OBJECT ENCODING says "listpack"),
// a larger list is a ChunkedList ("quicklist").
//
// A list changes its encoding where Redis does:
//   - before elements are added: to chunks if the listpack size plus the lengths of the new elements would exceed
//     list-max-listpack-size;
//   - after elements were removed or replaced: back to a listpack if a single chunk is left, of at most half of
//     list-max-listpack-size.
//
// Texts passed to a modifying method must not be views of the list itself.
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

class List : public Collection {  // gives access to the list of one key
 public:
  static constexpr ValueType kType = ValueType::kList;             // the type of an entry that holds a list
  static constexpr ValueForm kInitialForm = ValueForm::kListpack;  // a new list is a listpack
  static Bytes InitialPacked() { return Listpack::Empty(); }       // the bytes of an empty packed list

  explicit List(const CollectionContext& place) : Collection(place) {}

  // Returns the number of elements. Cost: O(1).
  size_t Size() const;
  bool IsEmpty() const;  // true: there are no elements

  // All methods below require Exists().

  // Pushes the elements one after the other at the end `end`, so the last of them becomes the first or last of the
  // list. Cost: O(1) for each element of a list of chunks, O(bytes of the list) at the head of a listpack.
  void Push(ListEnd end, std::span<const Bytes> elements);
  // Removes the first or last element, as `end` says. Requires: the list is not empty.
  void Pop(ListEnd end);
  // Does not change the order if `from` and `to` are the same end. Requires: the list is not empty.
  void Rotate(ListEnd from, ListEnd to);  // pops an element at end `from`, and pushes it at end `to`

  // Cost: O(n).
  bool Insert(Bytes pivot, ListSide side, Bytes element);  // inserts beside the first `pivot`; false: no `pivot`
  bool Replace(size_t index, Bytes element);               // replaces the element at `index`; false: out of range
  // Requires: index + count <= Size().
  void EraseRange(size_t index, size_t count);  // erases `count` elements from `index` on
  // Starts at the end `from`. Cost: O(n).
  size_t EraseEqual(Bytes element, size_t max_count, ListEnd from);  // erases up to max_count equal ones; returns count

  // VisitRange calls visit(Bytes) for `count` elements from `index` on. Each view is valid during its call. Requires:
  // index + count <= Size(); the list need not exist if `count` is 0. Cost: a new ListCursor at `index`, plus O(count).
  template <class Visit>
  void VisitRange(size_t index, size_t count, Visit visit) const;  // visits `count` elements from `index` on

 private:
  friend class ListCursor;
  bool IsPacked() const { return slot_.Form() == ValueForm::kListpack; }  // true: the list is a listpack
  Listpack AsListpack() const { return Listpack(slot_.View()); }          // the listpack; requires: IsPacked()
  ChunkedList& Chunks() const { return slot_.As<ChunkedList>(); }         // the list of chunks; requires: !IsPacked()
  ChunkLimit FillLimit() const {  // how full a listpack or chunk may become: list-max-listpack-size
    return ChunkLimit(limits_->list_max_listpack_size);
  }

  void PrepareToAdd(std::span<const Bytes> elements);  // converts to chunks if `elements` make a listpack too large
  void ConvertToChunks();                              // makes a listpack a ChunkedList
  void ConvertToListpackIfSmall();                     // a single chunk, at most half full, becomes a listpack
  void PushToListpack(ListEnd end, std::span<const Bytes> elements);  // pushes elements at one end of a listpack
  void PopWithoutConversion(ListEnd end);                             // pops an element; the list keeps its encoding
  size_t EraseEqualInListpack(const EncodedElement& element,  // erases up to `max_count` equal ones; returns how many
                              size_t max_count, ListEnd from);
};

// Any change of the list invalidates the cursor.
class ListCursor {  // iterates over the elements of a list, forward or backward
 public:
  // Creates a cursor at the element `index`. The cursor is invalid if there is no such element. Cost: O(elements
  // passed) in a listpack, O(number of chunks) in a ChunkedList.
  ListCursor(const List& list, size_t index);

  bool IsValid() const {  // false: the cursor is past either end
    return chunked_ ? chunked_->IsValid() : at_ != Listpack::kNowhere;
  }
  // Requires: IsValid().
  Bytes Element() {  // the current element, valid until the cursor moves
    return chunked_ ? chunked_->Element() : PackedElementText();
  }
  void Next() { chunked_ ? chunked_->Next() : NextInListpack(); }
  void Previous() {  // goes to the element before; IsValid() becomes false before the first
    chunked_ ? chunked_->Previous() : PreviousInListpack();
  }

 private:
  void NextInListpack();      // goes to the next element of a listpack
  void PreviousInListpack();  // goes to the previous element of a listpack
  Bytes PackedElementText();  // the current element of a listpack, as text; an integer is printed into digits_

  Listpack packed_{Listpack::Empty()};  // the list, if it is a listpack; otherwise empty
  size_t at_ = Listpack::kNowhere;
  IntegerText digits_{0};                       // the text of an integer element
  std::optional<ChunkedList::Cursor> chunked_;  // the position in a list of chunks; nullopt: the list is a listpack
};

template <class Visit>
void List::VisitRange(size_t index, size_t count, Visit visit) const {  // visits `count` elements from `index` on
  if (count == 0) return;
  if (!IsPacked()) return Chunks().VisitRange(index, count, visit);
  const Listpack packed = AsListpack();
  for (size_t at = packed.Seek(index); count > 0; --count) visit(ElementText(packed.Take(at)).View());
}

}  // namespace respite
