// Which requests are left to JavaScript whatever the table has, so that it can log them.
#pragma once
#include <cstdint>

class LogSampling {
 public:
  // 0: none.
  void pick_every(uint32_t requests) { every_ = left_ = requests; }

  // Whether the next request is one of them.
  bool picks() {
    picked_ = every_ > 0 && --left_ == 0;
    if (picked_) left_ = every_;
    return picked_;
  }

  // Of the newest request.
  bool picked() const { return picked_; }

 private:
  uint32_t every_ = 0, left_ = 0;
  bool picked_ = false;
};
inline LogSampling log_sampling;  // all on one thread
