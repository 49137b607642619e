// Selects the requests that are left to JavaScript, even if the table could answer them, so that JavaScript can log
// them.
#pragma once
#include <cstdint>

class LogSampling {
 public:
  // 0 selects none.
  void pick_every(uint32_t requests) { every_ = left_ = requests; }

  // True if the next request is selected.
  bool picks() {
    picked_ = every_ > 0 && --left_ == 0;
    if (picked_) left_ = every_;
    return picked_;
  }

  // True if the newest request was selected.
  bool picked() const { return picked_; }

 private:
  uint32_t every_ = 0, left_ = 0;
  bool picked_ = false;
};
inline LogSampling log_sampling;  // all on one thread
