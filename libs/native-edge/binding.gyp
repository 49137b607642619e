{
  "targets": [
    {
      "target_name": "native-edge",
      "sources": ["<!@(node native/units.mjs)"],
      "defines": ["NAPI_VERSION=8", "_GNU_SOURCE"],
      "cflags_cc": ["-O2", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type"],
      "libraries": ["-ldl"]
    }
  ]
}
