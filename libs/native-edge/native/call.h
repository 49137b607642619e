// Exports functions of the addon to JavaScript, and wraps one call of such a function.
#pragma once
#include <node_api.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// A call with its arguments and the values it can return. Arguments that are missing or of another type read as 0, false or empty.
class Call {
 public:
  static constexpr size_t kMaxArguments = 18;

  Call(napi_env env, napi_callback_info info) : env(env) {
    size_t count = kMaxArguments;  // Node-API fills the rest with undefined
    napi_get_cb_info(env, info, &count, values_, nullptr, &data);
  }

  napi_value operator[](int i) const { return values_[i]; }

  int64_t integer(int i) const {
    int64_t value = 0;
    napi_get_value_int64(env, values_[i], &value);
    return value;
  }

  bool truth(int i) const {
    bool value = false;
    napi_get_value_bool(env, values_[i], &value);
    return value;
  }

  std::string text(int i) const {
    size_t size = 0;
    if (napi_get_value_string_utf8(env, values_[i], nullptr, 0, &size) != napi_ok) return "";
    std::string value(size, '\0');
    napi_get_value_string_utf8(env, values_[i], value.data(), size + 1, &size);
    return value;
  }

  // Returns the memory of a typed array with elements of this type, and their number. Valid until JavaScript runs again.
  template <typename T>
  std::pair<T *, size_t> array(int i) const {
    constexpr napi_typedarray_type wanted = sizeof(T) == 1 ? napi_uint8_array : napi_bigint64_array;
    napi_typedarray_type type;
    size_t length = 0;
    void *memory = nullptr;
    if (napi_get_typedarray_info(env, values_[i], &type, &length, &memory, nullptr, nullptr) != napi_ok || type != wanted) return {nullptr, 0};
    return {static_cast<T *>(memory), length};
  }

  std::string_view bytes(int i) const {
    const auto [memory, size] = array<char>(i);
    return {memory, size};
  }

  napi_value value(double number) const {
    napi_value result;
    napi_create_double(env, number, &result);
    return result;
  }
  napi_value value(bool truth) const {
    napi_value result;
    napi_get_boolean(env, truth, &result);
    return result;
  }
  napi_value value(std::string_view text) const {
    napi_value result;
    napi_create_string_utf8(env, text.data(), text.size(), &result);
    return result;
  }
  // Returns a Uint32Array.
  napi_value value(const std::vector<uint32_t> &numbers) const {
    napi_value buffer, result;
    void *memory = nullptr;
    napi_create_arraybuffer(env, numbers.size() * sizeof(uint32_t), &memory, &buffer);
    std::copy(numbers.begin(), numbers.end(), static_cast<uint32_t *>(memory));
    napi_create_typedarray(env, napi_uint32_array, numbers.size(), buffer, 0, &result);
    return result;
  }
  template <typename List>
  napi_value list(const List &values) const {
    napi_value result;
    uint32_t i = 0;
    napi_create_array(env, &result);
    for (const auto &each : values) napi_set_element(env, result, i++, value(each));
    return result;
  }

  const napi_env env;
  void *data = nullptr;  // the data that the function was exported with

 private:
  napi_value values_[kMaxArguments];
};

struct Export {
  const char *name;
  napi_value (*function)(const Call &);  // a null pointer is undefined in JavaScript
};

template <size_t count>
void export_functions(napi_env env, napi_value exports, const Export (&functions)[count]) {
  constexpr auto invoke = [](napi_env env, napi_callback_info info) {
    const Call call(env, info);
    return reinterpret_cast<decltype(Export::function)>(call.data)(call);
  };
  for (const Export &each : functions) {
    napi_value function;
    napi_create_function(env, each.name, NAPI_AUTO_LENGTH, invoke, reinterpret_cast<void *>(each.function), &function);
    napi_set_named_property(env, exports, each.name, function);
  }
}
