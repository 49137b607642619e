import { fstatSync, readSync } from 'node:fs'
import type { EmscriptenNode, EmscriptenStream, GdalModule } from './wasm-module.js'
import { sourceMount } from './wasm-protocol.js'

const DIRECTORY = 0o040555
const FILE = 0o100444
/** Errno numbers of Emscripten's C library. */
const ENOENT = 44
const EINVAL = 28

/** A file of the mount: an open descriptor, or its bytes. */
export interface MountedFile {
  readonly name: string
  readonly content: number | Buffer
}

/**
 * Exposes files to the WebAssembly build as the read-only files `/sources/0.tif`, `/sources/1.tif`... so that it reads the
 * checked files and can name no others. Returns a function that removes them.
 */
export function mountSources(Module: GdalModule, files: readonly MountedFile[], onRead: () => void): () => void {
  const { FS } = Module
  const contents = new Map(files.map(({ name, content }) => [name, content]))
  const sizes = new Map(
    files.map(({ name, content }) => [name, typeof content === 'number' ? fstatSync(content).size : content.length]),
  )
  const attributes = (node: EmscriptenNode) => ({
    dev: 1,
    ino: node.id,
    mode: node.mode,
    nlink: 1,
    uid: 0,
    gid: 0,
    rdev: 0,
    size: sizes.get(node.name) ?? 4096,
    atime: new Date(0),
    mtime: new Date(0),
    ctime: new Date(0),
    blksize: 4096,
    blocks: 1,
  })
  const missing = () => {
    throw new FS.ErrnoError(ENOENT)
  }
  const nodeOps = { getattr: attributes, lookup: missing, readdir: () => ['.', '..'] }
  const streamOps = {
    read(stream: EmscriptenStream, heap: Int8Array, offset: number, length: number, position: number): number {
      onRead()
      const content = contents.get(stream.node.name)!
      if (typeof content === 'number') return readSync(content, heap, offset, length, position)
      const part = content.subarray(position, position + length)
      heap.set(part, offset)
      return part.length
    },
    llseek(stream: EmscriptenStream, offset: number, whence: number): number {
      const base = whence === 1 ? stream.position : whence === 2 ? sizes.get(stream.node.name)! : 0
      if (base + offset < 0) throw new FS.ErrnoError(EINVAL)
      return base + offset
    },
  }
  const make = (parent: EmscriptenNode | null, name: string, mode: number) =>
    Object.assign(FS.createNode(parent, name, mode, 0), { node_ops: nodeOps, stream_ops: streamOps })
  const type = {
    mount() {
      const root = make(null, '/', DIRECTORY)
      for (const { name } of files) make(root, name, FILE)
      return root
    },
  }
  FS.mount(type, {}, sourceMount)
  return () => FS.unmount(sourceMount)
}
