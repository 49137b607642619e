import type { LogState } from '@gateway/contracts/change.js'
import { type EdgePresence, edgePresenceSchema } from '@gateway/contracts/edge.js'
import type { PermitAnswer, PermitRequest } from '@gateway/contracts/rate-limit.js'
import { PRESENCE_SECONDS, type Presence } from '@gateway/store/edge-presence.js'
import { type ChainableCommander, Redis } from 'ioredis'
import { Announcements, announcementOf, type KnownStates, withdrawalOf } from './announcements.js'
import type { Bus, OwnPresence, RevisionMessage } from './bus.js'
import { decodeMessage, decodeState, encodeMessage } from './message.js'
import { type ConnectOptions, redisOptions } from './redis-address.js'
import { followCluster } from './redis-cluster.js'

/** A network partition may cause no event for a long time, so connections are pinged every second, and closed after two pings without a reply. */
const PING_INTERVAL_MS = 1000
const SILENCE_LIMIT_MS = 2000
const CONNECT_TIMEOUT_MS = 2000
const MAX_RECONNECT_DELAY_MS = 1000

const IS_CLUSTER =
  'REDIS_URL points to a Redis Cluster: write redis+cluster://host:port,host:port; until then the gateway finds changes by polling'

export interface RedisBusOptions {
  readonly url: string
  /** separates installations that share a Redis */
  readonly instanceId: string
  /** see `BusOptions` */
  readonly silentSeconds: number
  readonly knownStates: KnownStates
  /** reads the presence that processes without access to Redis wrote into the store */
  readonly storedPresence: () => Promise<Presence>
  /** called for connection errors, once for each change of state */
  readonly onTrouble: (message: string) => void
  readonly onRecovered: () => void
}

/**
 * A token bucket. KEYS: its hash, and the set of edge ids. ARGV: permits per second, burst, wanted permits. Returns the granted permits, the
 * milliseconds until the next one, and the number of edges. It uses the clock of Redis; while that is set back, it does not refill. A bucket that
 * is full again is deleted.
 */
const TAKE_PERMITS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local rate, burst, wanted = ARGV[1] / 1000, tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
local level, at = tonumber(bucket[1] or burst), tonumber(bucket[2] or now)
level = math.min(burst, level + rate * math.max(0, now - at))
local granted = math.min(wanted, math.floor(level))
level = level - granted
redis.call('HSET', KEYS[1], 'level', string.format('%.9f', level), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - level) / rate) + 1000)
local retry = level >= 1 and 0 or math.ceil((1 - level) / rate)
return {granted, retry, redis.call('SCARD', KEYS[2])}
`

interface WithScripts extends ChainableCommander {
  takePermits(bucket: string, edgeIds: string, perSecond: number, burst: number, wanted: number): ChainableCommander
}

/** The bus over Redis pub/sub. Presence is stored as keys that expire, so the clocks of processes do not matter. */
export class RedisBus implements Bus {
  readonly medium = 'redis'
  readonly #commands: Redis
  readonly #subscriber: Redis
  readonly #keys: {
    revision: string
    state: string
    applied: string
    edgeIds: string
    edge: (id: string) => string
    seen: (id: string) => string
    bucket: (tokenId: string) => string
  }
  readonly #announcements: Announcements
  readonly #silentMs: number
  readonly #storedPresence: () => Promise<Presence>
  readonly #handlers = new Map<string, (payload: string) => void>()
  readonly #onSubscribed: (() => void)[] = []
  readonly #onRecovered: () => void
  readonly #pinger: NodeJS.Timeout
  #lastAnswer = Number.NEGATIVE_INFINITY
  #troubled = false

  constructor(options: RedisBusOptions) {
    this.#announcements = new Announcements(() => this.presence(), options.knownStates)
    this.#silentMs = Math.max(options.silentSeconds, PRESENCE_SECONDS) * 1000
    this.#storedPresence = options.storedPresence
    this.#onRecovered = options.onRecovered
    const { url, options: found, nodes } = redisOptions(options.url)
    // A hash tag: keys with the same tag are on one server of a cluster (Redis Cluster specification, "Hash tags").
    const prefix = nodes === null ? `gateway:${options.instanceId}:` : `gateway:{${options.instanceId}}:`
    this.#keys = {
      revision: `${prefix}revision`,
      state: `${prefix}state`,
      applied: `${prefix}applied`,
      edgeIds: `${prefix}edges`,
      edge: (id) => `${prefix}edge:${id}`,
      seen: (id) => `${prefix}seen:${id}`,
      bucket: (tokenId) => `${prefix}bucket:${tokenId}`,
    }
    const common: ConnectOptions = {
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: SILENCE_LIMIT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      sentinelRetryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
      // A demoted master responds with this error, and without a reconnect its connections would stay.
      reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
      retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
    }
    const connect = (more: ConnectOptions = {}): Redis => {
      const all: ConnectOptions = { ...common, ...found, ...more }
      const client = url === null ? new Redis(all) : new Redis(url, all)
      if (nodes !== null) followCluster(client, nodes)
      return client
    }
    this.#commands = connect({
      scripts: { takePermits: { lua: TAKE_PERMITS, numberOfKeys: 2 } },
    })
    // Subscriptions are renewed by hand at every connect, so that "subscribed again" becomes an event.
    this.#subscriber = connect({ autoResubscribe: false })
    for (const client of [this.#commands, this.#subscriber]) {
      client.on('error', (error: Error) => {
        if (!this.#troubled) options.onTrouble(error.message)
        this.#troubled = true
      })
    }
    this.#commands.on('ready', () => {
      this.#announcements.noteReach(true)
      if (nodes === null) void this.#refuseCluster(options.onTrouble)
    })
    this.#commands.on('close', () => this.#announcements.noteReach(false))
    this.#subscriber.on('ready', () => {
      void this.#resubscribe()
      // Pings at once, because the bus counts as out of reach until the first reply.
      void this.#ping()
    })
    this.#subscriber.on('message', (channel: string, payload: string) => this.#handlers.get(channel)?.(payload))
    this.#pinger = setInterval(() => void this.#ping(), PING_INTERVAL_MS)
    this.#pinger.unref()
  }

  get connected(): boolean {
    return performance.now() - this.#lastAnswer <= SILENCE_LIMIT_MS
  }

  async publish(message: RevisionMessage): Promise<void> {
    this.#announcements.noteChange(message)
    await this.#commands.publish(this.#keys.revision, encodeMessage(message))
  }

  async attest({ revision, mark }: LogState): Promise<void> {
    await this.#commands.publish(this.#keys.state, JSON.stringify({ revision, mark }))
  }

  async subscribe(
    onMessage: (message: RevisionMessage) => void,
    onSubscribed: () => void,
    onAttested?: (state: LogState) => void,
  ): Promise<void> {
    const attested = (payload: string) => {
      const state = decodeState(payload)
      if (state !== null) onAttested?.(state)
    }
    if (onAttested !== undefined) this.#handlers.set(this.#keys.state, attested)
    this.#handlers.set(this.#keys.revision, (payload) => {
      const message = this.#noteChange(payload)
      if (message !== null) onMessage(message)
    })
    this.#onSubscribed.push(onSubscribed)
    if (this.#subscriber.status === 'ready') await this.#resubscribe()
  }

  async announce(edge: OwnPresence): Promise<void> {
    const presence = JSON.stringify({
      ...edge,
      seen_at: new Date().toISOString(),
    } satisfies EdgePresence)
    const pipeline = this.#commands
      .pipeline()
      .set(this.#keys.edge(edge.id), presence, 'PX', PRESENCE_SECONDS * 1000)
      .set(this.#keys.seen(edge.id), presence, 'PX', this.#silentMs)
      .sadd(this.#keys.edgeIds, edge.id)
      .publish(this.#keys.applied, announcementOf(edge))
    await all(pipeline)
  }

  async confirm(edge: OwnPresence): Promise<void> {
    await this.#commands.publish(this.#keys.applied, announcementOf(edge))
  }

  async withdraw(id: string): Promise<void> {
    const { edge, seen, edgeIds, applied } = this.#keys
    await all(this.#commands.pipeline().del(edge(id), seen(id)).srem(edgeIds, id).publish(applied, withdrawalOf(id)))
  }

  async presence(): Promise<Presence> {
    const ids = await this.#commands.smembers(this.#keys.edgeIds)
    const stored = await this.#storedPresence().catch((): Presence => ({ live: [], silent: [] }))
    const alive = await this.#read(ids.map((id) => this.#keys.edge(id)))
    const others = ids.filter((_, i) => alive[i] == null)
    const seen = await this.#read(others.map((id) => this.#keys.seen(id)))
    const gone = others.filter((_, i) => seen[i] == null)
    if (gone.length > 0) await this.#commands.srem(this.#keys.edgeIds, ...gone)
    const live = byId([...alive, ...stored.live.map((edge) => ({ ...edge, path: 'store' as const }))])
    const silent = byId([...seen, ...stored.silent])
    for (const id of live.keys()) silent.delete(id)
    return { live: sorted(live), silent: sorted(silent) }
  }

  async #read(keys: readonly string[]): Promise<readonly (EdgePresence | null)[]> {
    const values = keys.length === 0 ? [] : await this.#commands.mget(...keys)
    return values.map((value) => (typeof value === 'string' ? decodePresence(value) : null))
  }

  async awaitApplied(state: LogState, timeoutMs: number) {
    await this.expectConfirmations()
    return this.#announcements.awaitApplied(state, timeoutMs)
  }

  async expectConfirmations(): Promise<void> {
    const { applied, revision } = this.#keys
    if (this.#handlers.has(applied)) return
    this.#handlers.set(applied, (payload) => this.#announcements.receive(payload))
    // States that other control planes publish belong to those that edges confirm.
    if (!this.#handlers.has(revision)) this.#handlers.set(revision, (payload) => this.#noteChange(payload))
    // Without the subscription a wait still ends by reading presence, only more slowly.
    await this.#subscriber.subscribe(applied, revision).catch(() => {})
  }

  #noteChange(payload: string): RevisionMessage | null {
    const message = decodeMessage(payload)
    if (message !== null) this.#announcements.noteChange(message)
    return message
  }

  async takePermits(requests: readonly PermitRequest[]): Promise<PermitAnswer[]> {
    const pipeline = this.#commands.pipeline() as WithScripts
    for (const { tokenId, perSecond, burst, wanted } of requests)
      pipeline.takePermits(this.#keys.bucket(tokenId), this.#keys.edgeIds, perSecond, burst, wanted)
    const answers = await pipeline.exec()
    return (answers ?? []).map(([error, answer]) => {
      if (error !== null) throw error
      const [granted, retryAfterMs, processes] = answer as [number, number, number]
      return { granted, retryAfterMs, processes }
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#pinger)
    this.#commands.disconnect()
    this.#subscriber.disconnect()
  }

  /** Refuses a cluster that the URL does not declare. Its servers would refuse keys of other servers, so presence would come and go. */
  async #refuseCluster(onTrouble: (message: string) => void): Promise<void> {
    const info = await this.#commands.info('server').catch(() => '')
    if (!info.includes('redis_mode:cluster')) return
    onTrouble(IS_CLUSTER)
    await this.close()
  }

  async #resubscribe(): Promise<void> {
    try {
      if (this.#handlers.size > 0) await this.#subscriber.subscribe(...this.#handlers.keys())
      if (this.#troubled) this.#onRecovered()
      this.#troubled = false
      for (const callback of this.#onSubscribed) callback()
    } catch {
      // The connection was lost before the subscription became active. The next 'ready' event tries again.
    }
  }

  /** Pings the subscriber's own connection, since messages arrive only while that one is alive. */
  async #ping(): Promise<void> {
    if (this.#subscriber.status !== 'ready') return
    try {
      await this.#subscriber.ping()
      this.#lastAnswer = performance.now()
    } catch {
      if (performance.now() - this.#lastAnswer > SILENCE_LIMIT_MS) this.#subscriber.disconnect(true)
    }
  }
}

/** Returns null for text that no edge process wrote. Other programs can write into Redis, and must not break calls that read all edges. */
function decodePresence(text: string): EdgePresence | null {
  try {
    return edgePresenceSchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** Runs a pipeline, and rejects if one of its commands fails. The pipeline itself does not. */
async function all(pipeline: ChainableCommander): Promise<void> {
  for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error
}

/** Indexes entries by process. The last of several entries of one process counts. */
function byId(edges: readonly (EdgePresence | null)[]): Map<string, EdgePresence> {
  return new Map(edges.flatMap((edge) => (edge === null ? [] : [[edge.id, edge]])))
}

function sorted(edges: ReadonlyMap<string, EdgePresence>): EdgePresence[] {
  return [...edges.values()].sort((a, b) => a.host.localeCompare(b.host) || a.pid - b.pid)
}
