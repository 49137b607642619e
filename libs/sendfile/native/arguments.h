// The arguments of a call from JavaScript; what is missing or of another type reads as 0, false or empty.
#pragma once
#include <node_api.h>

#include <string>
#include <string_view>

class Arguments {
 public:
  static constexpr size_t kMost = 7;

  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    size_t count = kMost;  // Node-API fills the rest with undefined
    napi_get_cb_info(env, info, &count, values_, nullptr, nullptr);
  }

  napi_value operator[](int i) const { return values_[i]; }

  int64_t integer(int i) const {
    int64_t value = 0;
    napi_get_value_int64(env_, values_[i], &value);
    return value;
  }

  bool truth(int i) const {
    bool value = false;
    napi_get_value_bool(env_, values_[i], &value);
    return value;
  }

  std::string text(int i) const {
    size_t size = 0;
    if (napi_get_value_string_utf8(env_, values_[i], nullptr, 0, &size) != napi_ok) return "";
    std::string value(size, '\0');
    napi_get_value_string_utf8(env_, values_[i], value.data(), size + 1, &size);
    return value;
  }

  // Of a Uint8Array; to be read before JavaScript runs again.
  std::string_view bytes(int i) const {
    napi_typedarray_type type;
    size_t size = 0;
    void *data = nullptr;
    if (napi_get_typedarray_info(env_, values_[i], &type, &size, &data, nullptr, nullptr) != napi_ok) return {};
    return type == napi_uint8_array ? std::string_view(static_cast<char *>(data), size) : std::string_view();
  }

 private:
  napi_env env_;
  napi_value values_[kMost];
};
