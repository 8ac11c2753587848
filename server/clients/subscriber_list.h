// SubscriberList: a list of items in order of arrival. Each item knows its place, so it can be removed in O(1).
//
// Removed places stay empty until more than half of the places are empty; then the other items move up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace respite {

// Holds pointers to items of type T.
template <class T>
class SubscriberList {
 public:
  // Returns the place of the new item.
  uint32_t Add(T& item) {
    places_.push_back(&item);
    return static_cast<uint32_t>(places_.size() - 1);
  }
  // Calls `moved(T&, uint32_t place)` for each other item that changes its place. Cost: O(1) amortised.
  template <class Moved>
  void Remove(uint32_t place, Moved&& moved) {
    places_[place] = nullptr;
    ++empty_;
    if (empty_ * 2 > places_.size() || empty_ == places_.size()) MoveUp(moved);
  }
  size_t Count() const { return places_.size() - empty_; }
  // Cost: O(items). `visit` must not add or remove items.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (T* item : places_)
      if (item != nullptr) visit(*item);
  }

 private:
  template <class Moved>
  void MoveUp(Moved&& moved);

  std::vector<T*> places_;
  size_t empty_ = 0;
};

template <class T>
template <class Moved>
void SubscriberList<T>::MoveUp(Moved&& moved) {
  size_t next = 0;
  for (size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] == nullptr) continue;
    if (next != place) moved(*places_[place], static_cast<uint32_t>(next));
    places_[next++] = places_[place];
  }
  places_.resize(next);
  if (places_.capacity() > 64 && places_.capacity() > 4 * next) places_.shrink_to_fit();
  empty_ = 0;
}

}  // namespace respite
