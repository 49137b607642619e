import { fstatSync, readSync } from 'node:fs'
import type { EmscriptenNode, EmscriptenStream, GdalModule } from './wasm-module.js'
import { sourceMount } from './wasm-protocol.js'

const DIRECTORY = 0o040555
const FILE = 0o100444
/** Errno numbers of Emscripten's C library. */
const ENOENT = 44
const EINVAL = 28

/**
 * Exposes descriptors to the WebAssembly build as the read-only files `/sources/0`, `/sources/1`... so that it reads the
 * checked files and can name no others. Returns a function that removes them.
 */
export function mountSources(Module: GdalModule, descriptors: readonly number[], onRead: () => void): () => void {
  const { FS } = Module
  const sizes = descriptors.map((descriptor) => fstatSync(descriptor).size)
  const attributes = (node: EmscriptenNode) => ({
    dev: 1,
    ino: node.id,
    mode: node.mode,
    nlink: 1,
    uid: 0,
    gid: 0,
    rdev: 0,
    size: sizes[Number(node.name)] ?? 4096,
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
      return readSync(descriptors[Number(stream.node.name)]!, heap, offset, length, position)
    },
    llseek(stream: EmscriptenStream, offset: number, whence: number): number {
      const base = whence === 1 ? stream.position : whence === 2 ? sizes[Number(stream.node.name)]! : 0
      if (base + offset < 0) throw new FS.ErrnoError(EINVAL)
      return base + offset
    },
  }
  const make = (parent: EmscriptenNode | null, name: string, mode: number) =>
    Object.assign(FS.createNode(parent, name, mode, 0), { node_ops: nodeOps, stream_ops: streamOps })
  const type = {
    mount() {
      const root = make(null, '/', DIRECTORY)
      descriptors.forEach((_, index) => {
        make(root, String(index), FILE)
      })
      return root
    },
  }
  FS.mount(type, {}, sourceMount)
  return () => FS.unmount(sourceMount)
}
