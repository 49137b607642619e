// Requests as clients, careless programs and attackers send them.
#pragma once
#include <string>
#include <vector>

#include "choices.h"

// The values that requests may contain.
struct Subjects {
  std::vector<std::string> targets, tokens, etags, dates;
};

struct Made {
  std::string bytes;
  // A request as map clients send it, in one form or another, with this target and token: the table must answer it if
  // it may.
  bool canonical = false;
  bool conditional = false;
  std::string target, token;
};

Made make_request(Choices &choices, const Subjects &subjects);
