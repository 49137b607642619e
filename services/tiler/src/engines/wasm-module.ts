/** The used parts of Emscripten's file system, which has no types. */
export interface EmscriptenNode {
  readonly id: number
  readonly name: string
  readonly mode: number
}
export interface EmscriptenStream {
  readonly node: EmscriptenNode
  readonly position: number
}

/** The used parts of the WebAssembly module. */
export interface GdalModule {
  readonly FS: {
    readonly ErrnoError: new (errno: number) => Error
    mkdir(path: string): void
    mount(type: object, options: object, path: string): void
    unmount(path: string): void
    createNode(parent: EmscriptenNode | null, name: string, mode: number, device: number): EmscriptenNode
  }
  readonly NODEFS: object
  readonly HEAPU32: Uint32Array
  readonly HEAPF64: Float64Array
  ccall(name: string, result: 'number' | 'string' | null, types: string[], values: unknown[]): unknown
  lengthBytesUTF8(text: string): number
  stringToUTF8(text: string, pointer: number, room: number): void
  _malloc(bytes: number): number
  _free(pointer: number): void
}

/** Passes strings as a null-terminated list of C strings. */
export function withStrings<T>(Module: GdalModule, strings: readonly string[], use: (list: number) => T): T {
  const pointers = strings.map((text) => {
    const room = Module.lengthBytesUTF8(text) + 1
    const pointer = Module._malloc(room)
    Module.stringToUTF8(text, pointer, room)
    return pointer
  })
  const list = Module._malloc(4 * (strings.length + 1))
  Module.HEAPU32.set([...pointers, 0], list / 4)
  try {
    return use(list)
  } finally {
    for (const pointer of [...pointers, list]) Module._free(pointer)
  }
}
