import type { Addon } from '../addon.js'
import { NativeTilesets } from '../cold-tiles/cold-sets.js'
import { ResponseTable } from '../hot-tiles/response-table.js'
import { ENDLESS, type HttpResponse, type Job, type Listener, NOTHING, OUTCOMES, type Tier } from './types.js'

const SENT = 0
const FIRST_FAILURE = -1
/** Makes uWebSockets.js write a Content-Length. The addon removes the byte, since the file contains it. */
const ANY_BYTE = Buffer.from('x')
/** A field by which the addon checks that the cork buffer belongs to this response; the addon removes it. */
const MARKER = ['x-transfer', 'copied'] as const

/**
 * Sends by sendfile(2) from hooks in uSockets' event handling. Over TLS, which must encrypt the bytes, files of JavaScript's responses are
 * copied.
 */
export class NativeTier implements Tier {
  readonly name = 'native'
  readonly #addon: Addon
  readonly #pending = new Map<number, Job>()
  /** Sends a response that is not corked, or whose connection is older than the hooks. */
  readonly #otherwise: Tier

  readonly #isEncrypted: boolean

  private constructor(addon: Addon, otherwise: Tier, isEncrypted: boolean) {
    this.#addon = addon
    this.#otherwise = otherwise
    this.#isEncrypted = isEncrypted
  }

  /** Hooks the listener, or returns the reason why that fails. */
  static attach(
    addon: Addon,
    binary: string,
    { port, isEncrypted = false }: Listener,
    limits: { readonly stallSeconds: number; readonly idleSeconds: number },
    otherwise: Tier,
  ): NativeTier | string {
    const tier = new NativeTier(addon, otherwise, isEncrypted)
    const settled = (id: number, outcome: number, sent: number) => tier.#settled(id, outcome, sent)
    const problem = addon.attach(binary, port, limits.stallSeconds, settled, limits.idleSeconds, isEncrypted)
    return problem === '' ? tier : problem
  }

  /** Hooks another App's listener, or returns the reason why that fails. Must be called before the event loop continues. */
  attachAlso(port: number): string {
    return this.#addon.attachAlso(port)
  }

  /** Removes the hooks. */
  detach(): void {
    this.#addon.detach()
  }

  /** True if connections that were not accepted yet wait on the port. */
  connectionsWait(port: number): boolean {
    return this.#addon.connectionsWait(port)
  }

  /**
   * Answers the probe request, whose response must not have been written to, with two bytes. Returns true if the memory of uWS is as
   * expected at each stage. The stages are those of native/uws/layout.h, with the exact bytes that it looks for.
   */
  probe(res: HttpResponse): boolean {
    let found = this.#addon.probe(0)
    res.writeStatus('200 OK')
    found = this.#addon.probe(1) && found
    res.writeHeader('ab', 'c')
    found = this.#addon.probe(2) && found
    res.onAborted(() => {})
    const [, complete] = res.tryEnd(ANY_BYTE, 2)
    if (complete) return false
    found = this.#addon.probe(3) && found
    res.tryEnd(ANY_BYTE, 2)
    return this.#addon.probe(4) && found
  }

  /**
   * Returns the size in bytes from which bodies are sent by reference: `bytes`, or measured with a file whose beginning is in the page
   * cache.
   */
  chooseCopyLimit(file: string, bytes = this.#isEncrypted ? Number.MAX_SAFE_INTEGER : undefined): number {
    if (bytes === undefined) return this.#addon.measureCopyLimit(file)
    this.#addon.setCopyLimit(bytes)
    return bytes
  }

  /** True if a client has not read all bytes of a response. */
  hasUnsent(): boolean {
    return this.#addon.hasUnsent()
  }

  /** Returns the process's only table: a second call returns the same table with another capacity. */
  responseTable(capacityBytes: number): ResponseTable {
    return new ResponseTable(this.#addon, capacityBytes)
  }

  /** Returns null if the kernel does not support it. */
  coldSets(table: ResponseTable): NativeTilesets | null {
    return NativeTilesets.of(this.#addon, table)
  }

  send(job: Job): void {
    const { res, fd, offset, length } = job
    // A body of one byte cannot be announced by that byte and still leave the response pending.
    if (this.#isEncrypted || length === 1) {
      this.#otherwise.send(job)
      return
    }
    this.#addon.mark()
    res.writeHeader(...MARKER)
    if (!this.#addon.unmark()) {
      this.#otherwise.send(job)
      return
    }
    res.tryEnd(ANY_BYTE, length)
    const started = this.#addon.start(fd, offset, length)
    if (started === SENT) {
      res.tryEnd(NOTHING, 1)
      job.settle('sent', length)
    } else if (started > 0) {
      this.#pending.set(started, job)
      // Without this handler uWebSockets.js ends the process for a pending response; the hooks report the abort.
      res.onAborted(() => {})
    } else {
      res.close()
      job.settle(OUTCOMES[FIRST_FAILURE - started] ?? 'aborted', 0)
    }
  }

  /** Begins a body that ends with its connection. Must be called inside the cork of `res`. False if its head cannot say so. */
  sendUntilClose(res: HttpResponse, first: Uint8Array): boolean {
    this.#addon.mark()
    res.tryEnd(first, ENDLESS)
    return this.#addon.untilClose()
  }

  #settled(id: number, outcome: number, sent: number): void {
    const job = this.#pending.get(id)
    if (!job) return
    this.#pending.delete(id)
    const name = OUTCOMES[outcome] ?? 'aborted'
    // uWebSockets.js knows of one byte of the body: if all of it is sent, uWebSockets.js considers the response complete.
    if (name === 'sent') job.res.cork(() => job.res.tryEnd(NOTHING, 1))
    job.settle(name, sent)
  }
}
