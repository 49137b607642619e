import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type DiskSpace, diskSpace } from '@gateway/core/files/disk-space.js'
import { type Backlog, readBacklog, TOKENS_EXPIRE_WITHIN_DAYS } from '@gateway/store/backlog.js'
import { poolLoad } from '@gateway/store/pooling.js'
import { Gauge, type Registry } from 'prom-client'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { METRIC_PREFIX } from '../platform/metrics.js'
import type { StoreHealth } from './store-health.js'

/** Time limit of the counts in a scrape. After it the response is sent without counts. */
const ANSWER_WITHIN_MS = 1500

/**
 * Registers metrics of the cluster's pending work, and of the jobs of this process. Every control plane reports the same counts, so dashboards take the
 * maximum. If the store does not respond, the counts are absent, and `store_up` is 0.
 */
export function backlogMetrics(ctx: ControlContext, health: StoreHealth): void {
  const registers = [ctx.metrics.registry]
  const name = (suffix: string) => `${METRIC_PREFIX}${suffix}`
  const readOnce = onceAScrape(() =>
    Promise.race([readBacklog(ctx.sql), sleep(ANSWER_WITHIN_MS, null, { ref: false })]).catch(() => null),
  )
  const gauge = (suffix: string, help: string, labelName: string | null, values: (b: Backlog) => [string, number][]) =>
    new Gauge({
      name: name(suffix),
      help,
      labelNames: labelName === null ? [] : [labelName],
      registers,
      async collect() {
        const backlog = await readOnce()
        if (backlog === null) return labelName === null ? this.remove() : this.reset()
        for (const [label, value] of values(backlog)) this.set(labelName === null ? {} : { [labelName]: label }, value)
      },
    })
  gauge('slice_jobs', 'Slice jobs that have not ended, by status.', 'status', (b) => [
    ['pending', b.slicePending],
    ['running', b.sliceRunning],
  ])
  gauge('slice_oldest_pending_seconds', 'Age of the oldest slice job that has not begun.', null, (b) => [
    ['', b.sliceOldestSeconds],
  ])
  gauge('deliveries_waiting', 'Pushes and callbacks that have not ended.', null, (b) => [['', b.deliveriesWaiting]])
  gauge('deliveries_overdue_seconds', 'Time for which the most overdue delivery has been due.', null, (b) => [
    ['', b.deliveriesOldestSeconds],
  ])
  gauge('tokens_expiring', `Active tokens that expire within ${TOKENS_EXPIRE_WITHIN_DAYS} days.`, null, (b) => [
    ['', b.tokensExpiring],
  ])
  diskMetrics(ctx, registers)
  new Gauge({
    name: name('store_up'),
    help: '1 if the store responds and can be written.',
    registers,
    async collect() {
      this.set((await health.trouble()) === null ? 1 : 0)
    },
  })
  new Gauge({
    name: name('bus_up'),
    help: '1 if the bus is connected. On Postgres the bus is the store.',
    registers,
    collect() {
      this.set(ctx.bus.medium === 'postgres' || ctx.bus.connected ? 1 : 0)
    },
  })
  new Gauge({
    name: name('store_connections'),
    help: 'Connections of this process to the store, by their use.',
    labelNames: ['state'],
    registers,
    collect() {
      const { busy, idle } = poolLoad(ctx.sql)
      this.set({ state: 'busy' }, busy)
      this.set({ state: 'idle' }, idle)
    },
  })
  new Gauge({
    name: name('store_connections_max'),
    help: 'Maximum number of connections of this process to the store; if all are busy, queries wait.',
    registers,
    collect() {
      this.set(poolLoad(ctx.sql).max)
    },
  })
  new Gauge({ name: name('build_info'), help: 'The version of this process.', labelNames: ['version'], registers }).set(
    { version: ctx.version },
    1,
  )
}

/** Disk space for the files of a control plane: imports, logs, scratch, and sliced tiles. */
function diskMetrics({ settings }: ControlContext, registers: Registry[]): void {
  const directories = { DATA_DIR: settings.dataDir, SLICE_OUTPUT_ROOT: settings.sliceWorkRoot }
  const disk = (suffix: string, help: string, value: (space: DiskSpace) => number) =>
    new Gauge({
      name: `${METRIC_PREFIX}${suffix}`,
      help,
      labelNames: ['directory'],
      registers,
      async collect() {
        this.reset()
        for (const [directory, path] of Object.entries(directories)) {
          const space = await diskSpace(path)
          if (space !== null) this.set({ directory }, value(space))
        }
      },
    })
  disk('disk_free_bytes', 'Free space on the disk of a directory that is written to.', ({ free }) => free)
  disk('disk_bytes', 'Size of the disk of a directory that is written to.', ({ total }) => total)
}

export function connectionMetric({ server }: App, { metrics }: ControlContext): void {
  new Gauge({
    name: `${METRIC_PREFIX}open_connections`,
    help: 'Open connections to this process.',
    registers: [metrics.registry],
    async collect() {
      this.set(await promisify(server.getConnections.bind(server))())
    },
  })
}

/** Shares one query among all gauges of a scrape, which are collected at the same time. */
function onceAScrape<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null
  return () => {
    current ??= read().finally(() => {
      current = null
    })
    return current
  }
}
