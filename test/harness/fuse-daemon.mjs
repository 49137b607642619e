// Shows a directory, read-only, through FUSE: node fuse-daemon.mjs <directory> <mount point>. While the file <mount point>.hang exists, the
// mount behaves like a hung network mount: all requests wait; <mount point>.hangs confirms that. Implements the protocol of linux/fuse.h
// without dependencies, and caches nothing.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const [directory, mountPoint] = process.argv.slice(2)
const LOOKUP = 1
const FORGET = 2
const GETATTR = 3
const OPEN = 14
const READ = 15
const STATFS = 17
const RELEASE = 18
const INIT = 26
const OPENDIR = 27
const READDIR = 28
const RELEASEDIR = 29
const INTERRUPT = 36
const BATCH_FORGET = 42
const [EIO, ENOSYS] = [5, 38]
const IN_HEADER = 40
const OUT_HEADER = 16

const device = fs.openSync('/dev/fuse', 'r+')
const options = `fd=3,rootmode=40000,user_id=${process.getuid()},group_id=${process.getgid()},ro`
// Mounting sends no request; later requests wait until this process serves.
const mounting = spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'hung', mountPoint], {
  stdio: ['ignore', 'inherit', 'inherit', device],
})
mounting.once('error', () => process.exit(1))
mounting.once('exit', (code) => {
  if (code !== 0) process.exit(1)
  serve()
})

/** Paths by node number; 1 is the root. */
const paths = ['', directory]
const numbers = new Map([[directory, 1]])

function numberOf(file) {
  const known = numbers.get(file)
  if (known !== undefined) return known
  numbers.set(file, paths.push(file) - 1)
  return paths.length - 1
}

function serve() {
  const buffer = Buffer.alloc(1024 * 1024)
  for (;;) {
    hangWhileTold()
    let size
    try {
      size = fs.readSync(device, buffer)
    } catch (error) {
      if (error.code === 'ENOENT' || error.code === 'EINTR' || error.code === 'EAGAIN') continue
      process.exit(0) // ENODEV: unmounted
    }
    answer(buffer.subarray(0, size))
  }
}

// Hangs between two requests instead of by SIGSTOP: a process that waits for a request taken by the daemon cannot be killed.
function hangWhileTold() {
  if (!fs.existsSync(`${mountPoint}.hang`)) return
  fs.writeFileSync(`${mountPoint}.hangs`, '')
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  while (fs.existsSync(`${mountPoint}.hang`)) Atomics.wait(nobody, 0, 0, 10)
  fs.rmSync(`${mountPoint}.hangs`)
}

function answer(request) {
  const opcode = request.readUInt32LE(4)
  if (opcode === FORGET || opcode === BATCH_FORGET || opcode === INTERRUPT) return
  let body = Buffer.alloc(0)
  let error = 0
  try {
    const found = carryOut(opcode, Number(request.readBigUInt64LE(16)), request.subarray(IN_HEADER))
    if (found === null) error = ENOSYS
    else body = found
  } catch (thrown) {
    error = -(thrown.errno ?? -EIO)
  }
  const head = Buffer.alloc(OUT_HEADER)
  head.writeUInt32LE(OUT_HEADER + body.length, 0)
  head.writeInt32LE(-error, 4)
  request.copy(head, 8, 8, 16)
  fs.writeSync(device, Buffer.concat([head, body]))
}

function carryOut(opcode, node, args) {
  const file = paths[node]
  switch (opcode) {
    case INIT:
      return init()
    case LOOKUP:
      return entry(path.join(file, args.subarray(0, args.indexOf(0)).toString()))
    case GETATTR:
      return Buffer.concat([Buffer.alloc(16), attributes(file)])
    case OPEN:
    case OPENDIR:
      return opened(opcode === OPEN ? fs.openSync(file, 'r') : 0)
    case READ:
      return read(args)
    case READDIR:
      return list(file, Number(args.readBigUInt64LE(8)), args.readUInt32LE(16))
    case RELEASE:
      fs.closeSync(Number(args.readBigUInt64LE(0)))
      return Buffer.alloc(0)
    case RELEASEDIR:
      return Buffer.alloc(0)
    case STATFS:
      return statfs()
    default:
      return null
  }
}

function init() {
  const out = Buffer.alloc(64)
  out.writeUInt32LE(7, 0)
  out.writeUInt32LE(31, 4)
  out.writeUInt32LE(128 * 1024, 8)
  out.writeUInt16LE(64, 16)
  out.writeUInt16LE(48, 18)
  out.writeUInt32LE(128 * 1024, 20)
  out.writeUInt32LE(1, 24)
  return out
}

function entry(file) {
  const found = attributes(file)
  const out = Buffer.alloc(40)
  out.writeBigUInt64LE(BigInt(numberOf(file)), 0)
  return Buffer.concat([out, found])
}

function attributes(file) {
  const stat = fs.statSync(file)
  const out = Buffer.alloc(88)
  const seconds = BigInt(Math.floor(stat.mtimeMs / 1000))
  out.writeBigUInt64LE(BigInt(numberOf(file)), 0)
  out.writeBigUInt64LE(BigInt(stat.size), 8)
  for (const at of [24, 32, 40]) out.writeBigUInt64LE(seconds, at)
  out.writeUInt32LE(stat.mode, 60)
  out.writeUInt32LE(stat.nlink, 64)
  out.writeUInt32LE(4096, 80)
  return out
}

function opened(handle) {
  const out = Buffer.alloc(16)
  out.writeBigUInt64LE(BigInt(handle), 0)
  return out
}

function read(args) {
  const out = Buffer.alloc(args.readUInt32LE(16))
  const size = fs.readSync(Number(args.readBigUInt64LE(0)), out, 0, out.length, Number(args.readBigUInt64LE(8)))
  return out.subarray(0, size)
}

function list(file, offset, most) {
  const names = fs.readdirSync(file).slice(offset)
  const entries = []
  let size = 0
  for (const [i, name] of names.entries()) {
    const length = Buffer.byteLength(name)
    const out = Buffer.alloc(24 + Math.ceil(length / 8) * 8)
    size += out.length
    if (size > most) break
    out.writeBigUInt64LE(BigInt(numberOf(path.join(file, name))), 0)
    out.writeBigUInt64LE(BigInt(offset + i + 1), 8)
    out.writeUInt32LE(length, 16)
    out.write(name, 24)
    entries.push(out)
  }
  return Buffer.concat(entries)
}

function statfs() {
  const out = Buffer.alloc(80)
  out.writeUInt32LE(4096, 40)
  out.writeUInt32LE(255, 44)
  out.writeUInt32LE(4096, 48)
  return out
}
