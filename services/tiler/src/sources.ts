import fs from 'node:fs'
import { promisify } from 'node:util'
import { coded } from '@gateway/contracts/messages.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { openWithin } from '@gateway/core/files/open-within.js'
import type { Identity, OpenSource } from './engines/engine.js'
import { fail, quoted } from './failure.js'

const fstat = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<fs.BigIntStats>
const close = promisify(fs.close)

/** A path with the identity of its file at the first check. */
export interface CheckedSource {
  readonly path: string
  readonly identity: Identity
}

const REFUSALS = {
  absent: 'said.source_absent',
  outside: 'said.source_outside',
  not_a_file: 'said.source_no_file',
  unreadable: 'said.source_forbidden',
} as const

/** Time that a file must have been unchanged before its change time can be trusted: a few ticks of the kernel's clock. */
const SETTLE_NS = 50_000_000n

/**
 * Opens a plain file that is really inside one of `roots` (empty: anywhere except /dev, /proc and /sys). Its name may
 * lead elsewhere a moment later, but the descriptor does not. Throws a `Failure` that names the file. For a file outside of the
 * roots, or a name that leads there, the reason reveals nothing more.
 */
export async function openSource(path: string, roots: readonly string[]): Promise<OpenSource> {
  const opening = await openWithin(roots, path)
  if (!opening.ok) fail(coded('slice_source_not_suitable', { source: quoted(path), reason: REFUSALS[opening.reason] }))
  const source = { fd: opening.fd, realPath: opening.realPath, identity: await identityOf(opening.fd) }
  if (isPlainPath(source.realPath) && source.identity.size > 0n) return source
  await close(source.fd)
  return fail(
    coded('slice_source_not_suitable', {
      source: quoted(path),
      reason: source.identity.size > 0n ? 'said.source_no_file' : 'said.source_empty',
    }),
  )
}

/** Opens sources that were checked before. One that was changed or replaced since is refused. The caller closes them. */
export async function reopenSources(
  checked: readonly CheckedSource[],
  roots: readonly string[],
): Promise<OpenSource[]> {
  const opened: OpenSource[] = []
  try {
    for (const { path, identity } of checked) {
      const source = await openSource(path, roots)
      opened.push(source)
      if (!isSame(source.identity, identity)) failAsChanged(path)
    }
    return opened
  } catch (error) {
    await closeSources(opened)
    throw error
  }
}

export async function closeSources(sources: readonly OpenSource[]): Promise<void> {
  await Promise.all(sources.map((source) => close(source.fd)))
}

/**
 * Fails if a source was written while GDAL read it: GDAL may then have read something else than the checked
 * image, for example a virtual raster that names other files.
 */
export async function assertUnchanged(sources: readonly OpenSource[], paths: readonly string[]): Promise<void> {
  for (const [index, source] of sources.entries()) {
    if (!isSame(await identityOf(source.fd), source.identity)) failAsChanged(paths[index]!)
  }
}

/** Waits until a change of the file would be visible: two writes within one tick of the clock leave the same change time. */
export async function settle(source: OpenSource): Promise<void> {
  // biome-ignore lint/plugin: calendar, compared with times of files
  const age = BigInt(Date.now()) * 1_000_000n - source.identity.ctimeNs
  if (age >= 0n && age < SETTLE_NS) {
    await new Promise((resolve) => setTimeout(resolve, Number((SETTLE_NS - age) / 1_000_000n) + 1))
  }
}

async function identityOf(fd: number): Promise<Identity> {
  const { dev, ino, size, ctimeNs } = await fstat(fd, { bigint: true })
  return { dev, ino, size, ctimeNs }
}

function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.ctimeNs === b.ctimeNs
}

function failAsChanged(path: string): never {
  fail(coded('slice_source_changed', { source: quoted(path) }))
}
