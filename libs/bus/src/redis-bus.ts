import { type EdgePresence, edgePresenceSchema } from '@gateway/contracts/edge.js'
import { Redis } from 'ioredis'
import { Announcements, announcementOf } from './announcements.js'
import { type Bus, type OwnPresence, PRESENCE_SECONDS, type RevisionMessage } from './bus.js'
import { decodeMessage, encodeMessage } from './message.js'

/** A silent partition shows no event on a connection for a long time: a ping every second, and after two without an answer it is dead. */
const PING_INTERVAL_MS = 1000
const SILENCE_LIMIT_MS = 2000
const CONNECT_TIMEOUT_MS = 2000
const MAX_RECONNECT_DELAY_MS = 1000

export interface RedisBusOptions {
  readonly url: string
  /** separates installations that share a Redis */
  readonly instanceId: string
  /** called for connection errors, once for each change of state */
  readonly onTrouble: (message: string) => void
}

/** The bus over Redis pub/sub; presence as keys that expire, so that no process's clock matters. */
export class RedisBus implements Bus {
  readonly medium = 'redis'
  readonly #commands: Redis
  readonly #subscriber: Redis
  readonly #keys: { revision: string; applied: string; edgeIds: string; edge: (id: string) => string }
  readonly #announcements = new Announcements(() => this.edges())
  readonly #handlers = new Map<string, (payload: string) => void>()
  readonly #onSubscribed: (() => void)[] = []
  readonly #pinger: NodeJS.Timeout
  #lastAnswer = 0
  #troubled = false

  constructor(options: RedisBusOptions) {
    const prefix = `gateway:${options.instanceId}:`
    this.#keys = {
      revision: `${prefix}revision`,
      applied: `${prefix}applied`,
      edgeIds: `${prefix}edges`,
      edge: (id) => `${prefix}edge:${id}`,
    }
    const common = {
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: SILENCE_LIMIT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
    }
    this.#commands = new Redis(options.url, common)
    // Subscriptions are renewed by hand at every connect, so that "subscribed again" is an event that can be acted on.
    this.#subscriber = new Redis(options.url, { ...common, autoResubscribe: false })
    for (const client of [this.#commands, this.#subscriber]) {
      client.on('error', (error: Error) => {
        if (!this.#troubled) options.onTrouble(error.message)
        this.#troubled = true
      })
    }
    this.#commands.on('ready', () => this.#announcements.noteReach(true))
    this.#commands.on('close', () => this.#announcements.noteReach(false))
    this.#subscriber.on('ready', () => void this.#resubscribe())
    this.#subscriber.on('message', (channel: string, payload: string) => this.#handlers.get(channel)?.(payload))
    this.#pinger = setInterval(() => void this.#ping(), PING_INTERVAL_MS)
    this.#pinger.unref()
  }

  get connected(): boolean {
    return Date.now() - this.#lastAnswer <= SILENCE_LIMIT_MS
  }

  async publish(message: RevisionMessage): Promise<void> {
    await this.#commands.publish(this.#keys.revision, encodeMessage(message))
  }

  async subscribe(onMessage: (message: RevisionMessage) => void, onSubscribed: () => void): Promise<void> {
    this.#handlers.set(this.#keys.revision, (payload) => {
      const message = decodeMessage(payload)
      if (message !== null) onMessage(message)
    })
    this.#onSubscribed.push(onSubscribed)
    if (this.#subscriber.status === 'ready') await this.#resubscribe()
  }

  async announce(edge: OwnPresence): Promise<void> {
    const presence: EdgePresence = { ...edge, seen_at: new Date().toISOString() }
    await this.#commands
      .pipeline()
      .set(this.#keys.edge(edge.id), JSON.stringify(presence), 'PX', PRESENCE_SECONDS * 1000)
      .sadd(this.#keys.edgeIds, edge.id)
      .publish(this.#keys.applied, announcementOf(edge))
      .exec()
  }

  async withdraw(id: string): Promise<void> {
    await this.#commands.pipeline().del(this.#keys.edge(id)).srem(this.#keys.edgeIds, id).exec()
  }

  async edges(): Promise<readonly EdgePresence[]> {
    const ids = await this.#commands.smembers(this.#keys.edgeIds)
    if (ids.length === 0) return []
    const values = await this.#commands.mget(ids.map((id) => this.#keys.edge(id)))
    const gone = ids.filter((_, i) => values[i] === null)
    if (gone.length > 0) await this.#commands.srem(this.#keys.edgeIds, ...gone)
    return values
      .flatMap((value) => (typeof value === 'string' ? [edgePresenceSchema.parse(JSON.parse(value))] : []))
      .sort((a, b) => a.host.localeCompare(b.host) || a.pid - b.pid)
  }

  async awaitApplied(revision: number, timeoutMs: number) {
    if (!this.#handlers.has(this.#keys.applied)) {
      this.#handlers.set(this.#keys.applied, (payload) => this.#announcements.hear(payload))
      // Without the subscription the wait still ends by reading presence; it is only slower.
      await this.#subscriber.subscribe(this.#keys.applied).catch(() => {})
    }
    return this.#announcements.awaitApplied(revision, timeoutMs)
  }

  async close(): Promise<void> {
    clearInterval(this.#pinger)
    this.#commands.disconnect()
    this.#subscriber.disconnect()
  }

  async #resubscribe(): Promise<void> {
    try {
      if (this.#handlers.size > 0) await this.#subscriber.subscribe(...this.#handlers.keys())
      this.#troubled = false
      for (const callback of this.#onSubscribed) callback()
    } catch {
      // The connection went again before the subscription stood; the next 'ready' tries anew.
    }
  }

  /** The subscriber's own connection is pinged: that one must be alive for messages to arrive. */
  async #ping(): Promise<void> {
    if (this.#subscriber.status !== 'ready') return
    try {
      await this.#subscriber.ping()
      this.#lastAnswer = Date.now()
    } catch {
      if (Date.now() - this.#lastAnswer > SILENCE_LIMIT_MS) this.#subscriber.disconnect(true)
    }
  }
}
