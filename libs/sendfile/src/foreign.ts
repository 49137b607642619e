import { createRequire } from 'node:module'

/** What is used of koffi, the optional package that calls C functions without a compiler. Pointers are bigints. */
interface Koffi {
  load(path: string | null): { func(definition: string): (...args: unknown[]) => unknown }
  proto(definition: string): unknown
  view(pointer: bigint, bytes: number): ArrayBuffer
  errno(): number
  os: { errno: { EAGAIN: number; EINTR: number } }
}

/** The C functions that the koffi tier calls. */
export interface Foreign {
  /** A negative result is an errno. */
  sendfile(socket: number, file: number, offset: number, length: number): number
  /** Reads what is in memory already; 0 where the first byte is not. */
  readWithoutWaiting(file: number, buffer: Buffer, length: number, offset: number): number
  /** The uSockets structures behind the handles of libuv's loop that poll a listening socket on the port. */
  listenersOn(port: number): bigint[]
  /** The memory in which uWebSockets.js keeps what belongs to the loop of the listener. */
  loopDataOf(listener: bigint, bytes: number): ArrayBuffer
  descriptorOf(socket: bigint): number
  /** The port of the client on the other end; 0 where the descriptor is no connected socket. */
  peerPortOf(descriptor: number): number
  memory(address: bigint, bytes: number): ArrayBuffer
  readonly wouldBlock: number
}

const UV_POLL = 8
const SOL_SOCKET = 1
const SO_ACCEPTCONN = 30
const AF_INET = 2
const AF_INET6 = 10
const RWF_NOWAIT = 8
const ADDRESS_BYTES = 28

/** Opens koffi, or says why that cannot be. `binary` is the path of the loaded uWebSockets.js binary. */
export function openForeign(binary: string): Foreign | string {
  let koffi: Koffi
  try {
    koffi = createRequire(import.meta.url)('koffi') as Koffi
  } catch {
    return 'koffi is not installed'
  }
  try {
    return declare(koffi, binary)
  } catch (error) {
    return `koffi: ${(error as Error).message}`
  }
}

function declare(koffi: Koffi, binary: string): Foreign {
  const process = koffi.load(null)
  const server = koffi.load(binary)
  koffi.proto('void walk_callback(uintptr_t handle, void *argument)')
  const sendfile = process.func('int64_t sendfile(int out, int in, _Inout_ int64_t *offset, size_t count)')
  const pread = process.func('int64_t preadv2(int fd, void *vectors, int count, int64_t offset, int flags)')
  const defaultLoop = process.func('uintptr_t uv_default_loop()')
  const walk = process.func('void uv_walk(uintptr_t loop, walk_callback *callback, void *argument)')
  const typeOf = process.func('int uv_handle_get_type(uintptr_t handle)')
  const dataOf = process.func('uintptr_t uv_handle_get_data(uintptr_t handle)')
  const fileno = process.func('int uv_fileno(uintptr_t handle, _Out_ int *fd)')
  const getsockopt = process.func(
    'int getsockopt(int fd, int level, int name, _Out_ int *value, _Inout_ uint32_t *size)',
  )
  const getsockname = process.func('int getsockname(int fd, void *address, _Inout_ uint32_t *size)')
  const getpeername = process.func('int getpeername(int fd, void *address, _Inout_ uint32_t *size)')
  const pollFd = server.func('int us_poll_fd(uintptr_t socket)')
  const contextOf = server.func('uintptr_t us_socket_context(int ssl, uintptr_t socket)')
  const loopOf = server.func('uintptr_t us_socket_context_loop(int ssl, uintptr_t context)')
  const loopExt = server.func('uintptr_t us_loop_ext(uintptr_t loop)')
  const offsetArgument: [number | bigint] = [0]
  const vector = new BigUint64Array(2)
  const { EAGAIN } = koffi.os.errno
  const pointer = (value: unknown) => BigInt(value as number | bigint)

  function portOf(ask: (...args: unknown[]) => unknown, fd: number): number {
    const address = Buffer.alloc(ADDRESS_BYTES)
    if (ask(fd, address, [ADDRESS_BYTES]) !== 0) return 0
    const family = address.readUInt16LE(0)
    return family === AF_INET || family === AF_INET6 ? address.readUInt16BE(2) : 0
  }

  function isListener(handle: unknown, port: number): boolean {
    const fd: [number] = [-1]
    const accepts: [number] = [0]
    if (typeOf(handle) !== UV_POLL || fileno(handle, fd) !== 0) return false
    if (getsockopt(fd[0], SOL_SOCKET, SO_ACCEPTCONN, accepts, [4]) !== 0 || accepts[0] === 0) return false
    const socket = pointer(dataOf(handle))
    if (socket === 0n || portOf(getsockname, fd[0]) !== port) return false
    // The uSockets structure begins with a pointer back to the handle and knows the descriptor: both must agree.
    return new BigUint64Array(koffi.view(socket, 8))[0] === pointer(handle) && pollFd(socket) === fd[0]
  }

  return {
    wouldBlock: -EAGAIN,
    sendfile(socket, file, offset, length) {
      offsetArgument[0] = offset
      const sent = Number(sendfile(socket, file, offsetArgument, length))
      return sent < 0 ? -koffi.errno() : sent
    },
    readWithoutWaiting(file, buffer, length, offset) {
      vector[0] = addressOf(buffer)
      vector[1] = BigInt(length)
      return Math.max(0, Number(pread(file, vector, 1, offset, RWF_NOWAIT)))
    },
    listenersOn(port) {
      const found: bigint[] = []
      walk(
        defaultLoop(),
        (handle: unknown) => {
          if (isListener(handle, port)) found.push(pointer(dataOf(handle)))
        },
        null,
      )
      return found
    },
    loopDataOf: (listener, bytes) => koffi.view(pointer(loopExt(loopOf(0, contextOf(0, listener)))), bytes),
    descriptorOf: (socket) => Number(pollFd(socket)),
    peerPortOf: (descriptor) => portOf(getpeername, descriptor),
    memory: (address, bytes) => koffi.view(address, bytes),
  }

  function addressOf(buffer: Buffer): bigint {
    return (koffi as unknown as { address(value: unknown): bigint }).address(buffer)
  }
}
