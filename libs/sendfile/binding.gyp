{
  "targets": [
    {
      "target_name": "sendfile",
      "sources": [
        "native/addon.cc",
        "native/cached_file.cc",
        "native/cached_file_addon.cc",
        "native/connection.cc",
        "native/feed.cc",
        "native/file_transfer.cc",
        "native/hooks.cc",
        "native/hot_answer.cc",
        "native/hot_table.cc",
        "native/hot_table_addon.cc",
        "native/layout.cc",
        "native/listener.cc",
        "native/request_head.cc",
        "native/residency.cc",
        "native/token_form.cc",
        "native/transfer.cc",
        "native/usockets.cc"
      ],
      "defines": ["NAPI_VERSION=8", "_GNU_SOURCE"],
      "cflags_cc": ["-O2", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type"],
      "libraries": ["-ldl"]
    }
  ]
}
