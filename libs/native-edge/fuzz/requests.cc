#include "requests.h"

namespace {
using Texts = std::vector<std::string>;

const Texts kMethods = {"GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "get", "G", "GETS", "", "P\xc3\x9cT", "!X"};
const Texts kOtherTargets = {"/", "/tiles/", "/tiles/a/b/c/d.png", "/tiles/a/1/2/3.png", "/tiles//1/2/3.png", "/tiles/a/1/2/3.png/",
                             "/tiles/%61/1/2/3.png", "/tiles/alps/v1/0/0/0.png#x", "/health", "/wait/1", "/wait/2", "/zap", "*", "http://x/", "http://x", "HTTP://[::1]:80?a", "http://a@b/", "http://:1/", "http://", "https://x/", "x:80",
                             "/\x80\xff", "/tiles/a/b/c/d/e/f", "/tiles/a/1/2/3.png??", "//",
                             "/wmts?SERVICE=WMTS&REQUEST=GetTile&LAYER=a&STYLE=default&TILEMATRIXSET=b&TILEMATRIX=1&TILEROW=2&TILECOL=3&FORMAT=image/png"};
const Texts kNames = {"Host", "Authorization", "X-Access-Token", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "If-Match", "If-Range",
                      "Range", "Expect", "Upgrade", "Connection", "Content-Length", "Transfer-Encoding", "User-Agent", "Cookie", "Accept",
                      "Origin", "X", "Hosts", "Content-Lengths", "X-Forwarded-For", "TE", "Trailer", "I", "H"};
const Texts kEncodings = {"gzip", "gzip, deflate, br", "identity", "br", "gzip;q=0", "gzip;q=0.0, *", "*", "*;q=0", "GZIP", "x-gzip", "notgzip",
                          "gzipped", "br, notgzip", "gzip;q=1", "br,gzip", "", "identity, gzip ", "g zip", "gzip;q=0.000;x", "gzip; q=0.5",
                          "*;q=0, gzip ;a=b", "gzip;q=0, x-gzip", "gzip;Q=0.", "\xc2\xa0gzip", "x-gzip;q=0,*", "*,*;q=0"};
const Texts kAccepting = {"gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "*", "X-GZIP", "identity;q=0,\tgzip ;q=0.001", "deflate, *"};
const Texts kConnections = {"keep-alive", "Keep-Alive", "close", "Close", "keep-alive, close", "close, X-Access-Token", "upgrade", "",
                            "keep-alive,keep-alive", "TE ,CLOSE", "closed, x-close", ",close,"};
const Texts kHosts = {"x", "x", "x", "maps.example:8910", "[::1]:80", "", "127.0.0.1:"};
const Texts kBadHosts = {"a b", "a/b", "a@b", "x:y", "::1", "[]", "[::1", "]", "\x80", "a\"", "x:1:1", "[::1]x"};
const Texts kRanges = {"bytes=0-", "bytes=0-9", "bytes=-5", "bytes=9999999-", "lines=1-2", "bytes=0-0,2-3", ""};
const Texts kDates = {"yesterday", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Tue, 29 Feb 2000 12:00:00 GMT", "Wed, 29 Feb 2023 12:00:00 GMT",
                      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 0094 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
                      "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 anF 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +00", "Sun,+06 Nov 1994 08:49:37 GMT", ""};

std::string cased(Choices &choices, std::string name) {
  const size_t how = choices.below(6);
  for (char &c : name) {
    if (how == 0 || (how == 1 && choices.once_in(2))) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return name;
}

std::string tag_list(Choices &choices, const Subjects &subjects) {
  const std::string tag = choices.of(subjects.etags);
  const Texts forms = {tag, tag, "W/" + tag, "\"other\", " + tag, "\"other\"", "*", tag + "x", tag.substr(1), tag + tag, "W/" + tag + ", \"\"",
                       "\"", "W/", "\"a,b\"", " ", tag.substr(0, tag.size() - 1)};
  return choices.of(forms);
}

std::string date(Choices &choices, const Subjects &subjects) { return choices.of(choices.once_in(2) ? subjects.dates : kDates); }

std::string base64(const std::string &text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string made;
  uint32_t bits = 0, have = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (have += 8; have >= 6; have -= 6) made += digits[bits >> (have - 6) & 63];
  }
  if (have > 0) made += digits[bits << (6 - have) & 63];
  while (made.size() % 4) made += '=';
  return made;
}

// Returns Basic credentials, with the token as password or with another one.
std::string basic(Choices &choices, const std::string &token) {
  static const Texts users = {"", "user", "a b", "\xc3\xa4", "bmp_"};
  std::string made = base64(choices.of(users) + (choices.once_in(12) ? "" : ":") + (choices.once_in(6) ? "secret" : token));
  switch (choices.below(12)) {
    case 0:
      return made.substr(0, choices.below(made.size() + 1));
    case 1:
      return made.insert(choices.below(made.size() + 1), choices.text(1, "=-_ \t+/:"));
    default:
      return made;
  }
}

std::string token_text(Choices &choices, const Subjects &subjects) {
  std::string token = choices.of(subjects.tokens);
  switch (choices.below(12)) {
    case 0:
      return "";
    case 1:
      return token.substr(0, choices.below(token.size()));
    case 2:
      token[choices.below(token.size())] = choices.text(1, "_-0aZ %&=")[0];
      return token;
    case 3:
      return token + choices.text(1, " ,&=x");
    default:
      return token;
  }
}

std::string percent(Choices &choices, const std::string &text) {
  std::string made;
  for (const char c : text) {
    if (!choices.once_in(8)) made += c;
    else {
      char coded[4];
      snprintf(coded, sizeof coded, choices.once_in(2) ? "%%%02x" : "%%%02X", static_cast<unsigned char>(c));
      made += coded;
    }
  }
  return made;
}

std::string query(Choices &choices, const Subjects &subjects) {
  std::string made;
  for (size_t i = choices.below(4) + 1; i > 0; i--) {
    static const Texts names = {"token", "token", "access_token", "v", "v", "tokens", "Token", "a", "", "access%5ftoken", "t%6Fken", "missing"};
    const std::string &name = choices.of(names);
    std::string value = name == "v" ? std::to_string(choices.below(30)) : token_text(choices, subjects);
    if (choices.once_in(8)) value = percent(choices, value);
    made += name;
    if (!choices.once_in(12)) made += "=" + value;
    if (i > 1) made += choices.once_in(15) ? "&&" : choices.once_in(15) ? ";" : "&";
  }
  return made;
}

std::string value_for(Choices &choices, const std::string &name, const Subjects &subjects) {
  if (name == "Host") return choices.of(choices.once_in(10) ? kBadHosts : kHosts);
  if (name == "Authorization") {
    static const Texts schemes = {"Bearer ", "Bearer ", "bearer ", "BEARER ", "Bearer  ", "Bearer", "Basic ", "Bearer\t", ""};
    if (choices.once_in(3)) return (choices.once_in(3) ? "basic " : "Basic ") + basic(choices, token_text(choices, subjects));
    return choices.of(schemes) + token_text(choices, subjects);
  }
  if (name == "X-Access-Token") return token_text(choices, subjects);
  if (name == "Accept-Encoding") return choices.of(kEncodings);
  if (name == "If-None-Match") return tag_list(choices, subjects);
  if (name == "If-Modified-Since") return date(choices, subjects);
  if (name == "Connection") return choices.of(kConnections);
  if (name == "Content-Length") {
    static const Texts lengths = {"0", "5", "5", "00005", "-1", "5,5", "5 5", "+5", "18446744073709551616", "999999999999999999", "", "0x5"};
    return choices.of(lengths);
  }
  if (name == "Transfer-Encoding") {
    static const Texts codings = {"chunked", "chunked", "Chunked", "gzip, chunked", "chunked, chunked", "identity", "", "xchunked"};
    return choices.of(codings);
  }
  if (name == "Range") return choices.of(kRanges);
  return choices.once_in(20) ? choices.text(choices.below(40)) : choices.text(choices.below(60), "abc;=,\t \"\\/()\x80");
}

std::string line(Choices &choices, const std::string &name, const std::string &value) {
  static const Texts colons = {": ", ": ", ": ", ":", ":\t", ":  ", " : "};
  static const Texts ends = {"\r\n", "\r\n", "\r\n", "\r\n", " \r\n", "\t\r\n"};
  return cased(choices, name) + (choices.once_in(60) ? choices.of(colons) : ": ") + value + (choices.once_in(40) ? choices.of(ends) : "\r\n");
}

std::string chunks(Choices &choices) {
  std::string made;
  for (size_t i = choices.below(4); i > 0; i--) {
    const std::string data = choices.text(choices.below(40) + 1);
    char size[16];
    snprintf(size, sizeof size, choices.once_in(2) ? "%zx" : "%04zX", data.size());
    static const Texts extensions = {";a=b", ";", " \t; a = \"b;\\\"\"", ";a;b", " ", "\t"};
    made += std::string(size) + (choices.once_in(6) ? choices.of(extensions) : "") + "\r\n" + data + "\r\n";
  }
  static const Texts trailers = {"Trailer: x\r\n", "a:\r\nb: GET / HTTP/1.1\r\n", "x : y\r\n", " folded\r\n", ":\r\n"};
  return made + "0" + (choices.once_in(12) ? ";a" : "") + "\r\n" + (choices.once_in(6) ? choices.of(trailers) : "") + "\r\n";
}

void mutate(Choices &choices, std::string *bytes) {
  static const Texts inserts = {"\r\n", "\n", "\r", std::string(1, '\0'), " ", "\r\n\r\n", "\r\n folded", ":", "HTTP/1.0", "%", "\x7f", "\xff", "GET / HTTP/1.1\r\n"};
  for (size_t i = choices.below(3) + 1; i > 0; i--) {
    const size_t at = choices.below(bytes->size() + 1);
    switch (choices.below(4)) {
      case 0:
        bytes->insert(at, choices.of(inserts));
        break;
      case 1:
        if (at < bytes->size()) (*bytes)[at] = static_cast<char>(choices.next());
        break;
      case 2:
        bytes->erase(at, choices.below(4) + 1);
        break;
      default:
        bytes->insert(at, bytes->substr(at, choices.below(40)));
    }
  }
}

// Returns a form in which a token may be presented: the text after the path, and header lines.
std::pair<std::string, std::string> presented(Choices &choices, const std::string &token) {
  const std::string bearer = (choices.once_in(3) ? "bEARER " : "Bearer ") + token, header = "X-Access-Token: " + token + "\r\n";
  switch (choices.below(9)) {
    case 0:
      return {"?token=" + token, ""};
    case 1:
      return {"?access_token=" + token, ""};
    case 2:
      return {"", "Authorization: " + bearer + "\r\n"};
    case 3:
      return {"?v=3", header};
    case 4:
      return {"?v=%33&access_token=" + token + "&x=a+b&", ""};
    case 5:
      return {"", "Authorization: Basic " + base64("user:" + token) + "\r\n"};
    case 6:
      return {"?token=" + token, "Authorization: " + bearer + "\r\n" + header};
    case 7:
      return {"?token=" + token + "&v=1&access_token=" + token + "&token=", header + header};
    default:
      return {"?token=" + token, "Authorization: Basic " + base64("user:secret") + "\r\n"};
  }
}

// Optional parts in front of a path, or of a request.
std::string host_in_target(Choices &choices) {
  static const Texts forms = {"http://maps.example", "HTTP://x:8910", "http://[::1]:1", "http://%41_b"};
  return choices.once_in(12) ? choices.of(forms) : "";
}
std::string empty_lines(Choices &choices) {
  static const Texts forms = {"\r\n", "\r\n\r\n", "\r\n\r\n\r\n\r\n"};
  return choices.once_in(12) ? choices.of(forms) : "";
}

Made make_canonical(Choices &choices, const Subjects &subjects) {
  Made made;
  made.canonical = true;
  made.target = choices.of(subjects.targets);
  made.token = choices.of(subjects.tokens);
  const auto [query, lines] = presented(choices, made.token);
  made.bytes = empty_lines(choices) + (choices.once_in(4) ? "HEAD " : "GET ") + host_in_target(choices) + made.target + query +
               (choices.once_in(20) ? " HTTP/1.9" : " HTTP/1.1") + "\r\nHost: " + choices.of(kHosts) + "\r\n" + lines;
  if (choices.once_in(2)) {
    made.bytes += "Accept-Encoding: " + choices.of(kAccepting) + "\r\nUser-Agent: map\r\nConnection: " + (choices.once_in(3) ? "TE" : "keep-alive") + "\r\n";
    if (choices.once_in(3)) made.bytes += "Range: bytes=0-\r\n";
    made.conditional = choices.once_in(3);
    if (made.conditional && choices.once_in(2)) made.bytes += "If-Modified-Since: " + choices.of(subjects.dates) + "\r\n";
    else if (made.conditional) made.bytes += "If-None-Match: " + choices.of(subjects.etags) + ", W/\"other\"\r\n";
  } else {
    made.canonical = false;
    made.bytes += "Accept-Encoding: " + choices.of(kEncodings) + "\r\n";
    if (choices.once_in(2)) made.bytes += "If-None-Match: " + tag_list(choices, subjects) + "\r\n";
    if (choices.once_in(2)) made.bytes += "If-Modified-Since: " + date(choices, subjects) + "\r\n";
    if (choices.once_in(4)) made.bytes += "Connection: " + choices.of(kConnections) + "\r\n";
  }
  made.bytes += "\r\n";
  return made;
}
}  // namespace

Made make_request(Choices &choices, const Subjects &subjects) {
  if (choices.once_in(3)) return make_canonical(choices, subjects);
  Made made;
  const bool other_target = choices.once_in(4);
  made.bytes = empty_lines(choices) + choices.of(kMethods) + " " + (other_target ? choices.of(kOtherTargets) : host_in_target(choices) + choices.of(subjects.targets));
  if (choices.once_in(2)) made.bytes += "?" + query(choices, subjects);
  made.bytes += choices.once_in(40) ? " HTTP/1.0\r\n" : choices.once_in(60) ? " HTTP/1.2\r\n" : " HTTP/1.1\r\n";
  std::string body;
  bool has_host = false;
  for (size_t i = choices.below(6); i > 0; i--) {
    const std::string &name = choices.of(kNames);
    const std::string value = value_for(choices, name, subjects);
    if (name == "Host") has_host = true;
    if (name == "Content-Length" && body.empty()) body = choices.text(5);
    if (name == "Transfer-Encoding") body = chunks(choices);
    made.bytes += line(choices, name, value);
    if (choices.once_in(12)) made.bytes += line(choices, name, choices.once_in(2) ? value : value_for(choices, name, subjects));
  }
  if (choices.once_in(200)) {
    for (size_t i = 90 + choices.below(20); i > 0; i--) made.bytes += "X-Many: y\r\n";
  }
  if (choices.once_in(300)) made.bytes += "X-Long: " + std::string(choices.below(20'000), 'a') + "\r\n";
  if (!has_host && !choices.once_in(20)) made.bytes += "Host: x\r\n";
  made.bytes += "\r\n" + body;
  if (choices.once_in(7)) mutate(choices, &made.bytes);
  return made;
}
