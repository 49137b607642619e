import type { Addon } from '../addon.js'
import { NativeTilesets } from '../cold-tiles/cold-sets.js'
import { ResponseTable } from '../hot-tiles/response-table.js'
import { type HttpResponse, type Job, type Listener, NOTHING, OUTCOMES, type Tier } from './types.js'

const SENT = 0
const FIRST_FAILURE = -1
/** Announces a length: the addon takes the byte back, and the file has the right one. */
const ANY_BYTE = Buffer.from('x')
/** Whether this field goes into the cork buffer shows whose response it is; the addon takes it back. */
const MARKER = ['x-transfer', 'copied'] as const

/** sendfile(2) from hooks in uSockets' event handling. Over TLS, which has to see the bytes, files of JavaScript's answers are copied. */
export class NativeTier implements Tier {
  readonly name = 'native'
  readonly #addon: Addon
  readonly #pending = new Map<number, Job>()
  /** For a response that is not corked, or whose connection is older than the hooks. */
  readonly #otherwise: Tier

  readonly #isEncrypted: boolean

  private constructor(addon: Addon, otherwise: Tier, isEncrypted: boolean) {
    this.#addon = addon
    this.#otherwise = otherwise
    this.#isEncrypted = isEncrypted
  }

  /** Hooks the listener, or says why that cannot be. */
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

  /** Hooks another App's listener, or says why that cannot be. To be called before the event loop goes on. */
  attachAlso(port: number): string {
    return this.#addon.attachAlso(port)
  }

  /** Gives up the hooks. */
  detach(): void {
    this.#addon.detach()
  }

  /** Whether connections that were not accepted yet wait on the port. */
  connectionsWait(port: number): boolean {
    return this.#addon.connectionsWait(port)
  }

  /**
   * Answers the probe request, of which nothing has been written yet, with two bytes: whether uWS's memory is as expected at each stage. The
   * stages are those of native/uws/layout.h, with the very bytes that it looks for.
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

  /** From how many bytes on bodies are sent by reference: as given, or measured with a file whose beginning is in the page cache. */
  chooseCopyLimit(file: string, bytes = this.#isEncrypted ? Number.MAX_SAFE_INTEGER : undefined): number {
    if (bytes === undefined) return this.#addon.measureCopyLimit(file)
    this.#addon.setCopyLimit(bytes)
    return bytes
  }

  /** Whether a client has still to take bytes of an answer. */
  hasUnsent(): boolean {
    return this.#addon.hasUnsent()
  }

  /** One table for the process: a second one is the same with another capacity. */
  responseTable(capacityBytes: number): ResponseTable {
    return new ResponseTable(this.#addon, capacityBytes)
  }

  /** null: the kernel does not let tiles be read so. */
  coldSets(table: ResponseTable): NativeTilesets | null {
    return NativeTilesets.of(this.#addon, table)
  }

  send(job: Job): void {
    const { res, fd, offset, length } = job
    // A length of one byte cannot be announced by that byte and leave the response pending.
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
      // uWebSockets.js ends the process over a pending response without this handler; the hooks report the abort.
      res.onAborted(() => {})
    } else {
      res.close()
      job.settle(OUTCOMES[FIRST_FAILURE - started] ?? 'aborted', 0)
    }
  }

  #settled(id: number, outcome: number, sent: number): void {
    const job = this.#pending.get(id)
    if (!job) return
    this.#pending.delete(id)
    const name = OUTCOMES[outcome] ?? 'aborted'
    // uWebSockets.js knows of one byte of the body: with none missing it takes the response for complete.
    if (name === 'sent') job.res.cork(() => job.res.tryEnd(NOTHING, 1))
    job.settle(name, sent)
  }
}
