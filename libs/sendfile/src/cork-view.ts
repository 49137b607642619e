import type { Foreign } from './foreign.js'
import { type HttpResponse, NOTHING } from './types.js'

/** LoopData is about 300 bytes, with the cork buffer near its end. */
const SEARCH_BYTES = 512
const STATUS_LINE = 'HTTP/1.1 200 OK\r\n'
const HEADER = 'ab: c\r\n'
const MIN_ADDRESS = 65536n

/**
 * Which connection is corked, read from uWebSockets.js's memory. native/layout.h explains the cork buffer; here, too, no offset is
 * built in: the three words (buffer, number of bytes in it, connection) are found by watching the number during a probe request.
 */
export class CorkView {
  readonly #foreign: Foreign
  readonly #numbers: Uint32Array
  readonly #words: BigUint64Array
  /** The index of the number of bytes, in 4-byte units. */
  #at = -1
  #socketBefore = 0n
  #bytesBefore = 0

  constructor(foreign: Foreign, loopData: ArrayBuffer) {
    this.#foreign = foreign
    this.#numbers = new Uint32Array(loopData)
    this.#words = new BigUint64Array(loopData)
  }

  static open(foreign: Foreign, port: number): CorkView | string {
    const [listener, ...more] = foreign.listenersOn(port)
    if (listener === undefined || more.length > 0) return 'the listener was not found in the event loop'
    return new CorkView(foreign, foreign.loopDataOf(listener, SEARCH_BYTES))
  }

  /** Answers the probe request; `peerPort` is the port that it came from. */
  probe(res: HttpResponse, peerPort: number): boolean {
    const is = (bytes: number) => (i: number) => this.#numbers[i] === bytes
    let candidates = [...this.#numbers.keys()].filter((i) => i % 2 === 0 && i >= 4).filter(is(0))
    res.writeStatus('200 OK')
    candidates = candidates.filter(is(STATUS_LINE.length))
    res.writeHeader('ab', 'c')
    candidates = candidates.filter(is(STATUS_LINE.length + HEADER.length))
    candidates = candidates.filter((i) => this.#isCork(i, peerPort))
    const found = candidates.length === 1
    res.onAborted(() => {})
    // A response whose length is announced and whose body has not begun must still be pending, as the tier relies on it.
    const [, complete] = res.tryEnd(NOTHING, 1)
    if (!complete) res.tryEnd(Buffer.from('x'), 1)
    this.#at = found && !complete ? (candidates[0] ?? -1) : -1
    return this.#at >= 0
  }

  #isCork(i: number, peerPort: number): boolean {
    const buffer = this.#words[i / 2 - 1] ?? 0n
    const socket = this.#words[i / 2 + 1] ?? 0n
    if (buffer < MIN_ADDRESS || socket < MIN_ADDRESS) return false
    const text = Buffer.from(this.#foreign.memory(buffer, STATUS_LINE.length)).toString('latin1')
    return text === STATUS_LINE && this.#foreign.peerPortOf(this.#foreign.descriptorOf(socket)) === peerPort
  }

  #socket(): bigint {
    return this.#words[this.#at / 2 + 1] ?? 0n
  }

  /** To be called before something is written to a response. */
  mark(): void {
    this.#socketBefore = this.#socket()
    this.#bytesBefore = this.#numbers[this.#at] ?? 0
  }

  /**
   * The descriptor behind the response that something was written to since `mark`: the connection that is corked, if the bytes went
   * into the cork buffer; -1 if they did not.
   */
  descriptorSinceMark(): number {
    const socket = this.#socket()
    if (socket === 0n || socket !== this.#socketBefore) return -1
    return (this.#numbers[this.#at] ?? 0) > this.#bytesBefore ? this.#foreign.descriptorOf(socket) : -1
  }
}
