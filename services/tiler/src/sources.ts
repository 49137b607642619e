import fs from 'node:fs'
import { promisify } from 'node:util'
import { coded } from '@gateway/contracts/messages.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { openWithin } from '@gateway/core/files/open-within.js'
import type { BesideTexts, FileSuffix, Identity, OpenFile, OpenSource } from './engines/engine.js'
import { fail, quoted } from './failure.js'

const fstat = promisify(fs.fstat) as (fd: number, options: { bigint: true }) => Promise<fs.BigIntStats>
const close = promisify(fs.close)

/** The files next to an image that GDAL may see, at the first check. */
export interface Beside {
  readonly texts: BesideTexts
  readonly files: readonly {
    readonly suffix: FileSuffix
    readonly path: string
    readonly identity: Identity
  }[]
}

/** A path with the identity of its file at the first check. */
export interface CheckedSource {
  readonly path: string
  readonly identity: Identity
  readonly beside: Beside
}

const REFUSALS = {
  absent: 'said.source_absent',
  outside: 'said.source_outside',
  not_a_file: 'said.source_no_file',
  unreadable: 'said.source_forbidden',
  empty: 'said.source_empty',
} as const

/** Time that a file must have been unchanged before its change time can be trusted: a few ticks of the kernel's clock. */
const SETTLE_NS = 50_000_000n

/**
 * Opens a plain file that is really inside one of `roots` (empty: anywhere except /dev, /proc and /sys). Its name may
 * lead elsewhere a moment later, but the descriptor does not. Throws a `Failure` that names the file. For a file outside of the
 * roots, or a name that leads there, the reason reveals nothing more.
 */
export async function openSource(path: string, roots: readonly string[]): Promise<OpenFile> {
  const opening = await tryOpenSource(path, roots)
  if (opening.ok) return opening.source
  return fail(coded('slice_source_not_suitable', { source: quoted(path), reason: REFUSALS[opening.reason] }))
}

type SourceOpening =
  | { readonly ok: true; readonly source: OpenFile }
  | { readonly ok: false; readonly reason: keyof typeof REFUSALS }

/** Like `openSource`, with the refusal as a value. */
export async function tryOpenSource(path: string, roots: readonly string[]): Promise<SourceOpening> {
  const opening = await openWithin(roots, path)
  if (!opening.ok) return opening
  const source = { fd: opening.fd, realPath: opening.realPath, identity: await identityOf(opening.fd) }
  if (isPlainPath(source.realPath) && source.identity.size > 0n) return { ok: true, source }
  await close(source.fd)
  return { ok: false, reason: source.identity.size > 0n ? 'not_a_file' : 'empty' }
}

/** Opens sources that were checked before, with the files next to them. One that was changed or replaced since is refused. The caller closes them. */
export async function reopenSources(
  checked: readonly CheckedSource[],
  roots: readonly string[],
): Promise<OpenSource[]> {
  const images: OpenFile[] = []
  const sources: OpenSource[] = []
  try {
    for (const source of checked) {
      const image = await reopen(source, roots)
      images.push(image)
      sources.push(await reopenBeside(image, source.beside, roots))
    }
    return sources
  } catch (error) {
    await closeFiles([...images, ...sources.flatMap(({ beside }) => beside.files)])
    throw error
  }
}

/** Opens what is next to an image. The caller closes it. */
export async function reopenBeside(
  image: OpenFile,
  { texts, files }: Beside,
  roots: readonly string[],
): Promise<OpenSource> {
  const opened: OpenSource['beside']['files'][number][] = []
  try {
    for (const file of files) opened.push({ ...(await reopen(file, roots)), suffix: file.suffix })
    return { ...image, beside: { texts, files: opened } }
  } catch (error) {
    await closeFiles(opened)
    throw error
  }
}

async function reopen(
  { path, identity }: Pick<CheckedSource, 'path' | 'identity'>,
  roots: readonly string[],
): Promise<OpenFile> {
  const file = await openSource(path, roots)
  if (isSame(file.identity, identity)) return file
  await close(file.fd)
  return failAsChanged(path)
}

export async function closeSources(sources: readonly OpenSource[]): Promise<void> {
  await closeFiles(sources.flatMap(filesOf))
}

function filesOf(source: OpenSource): OpenFile[] {
  return [source, ...source.beside.files]
}

export async function closeFiles(files: readonly OpenFile[]): Promise<void> {
  await Promise.all(files.map(({ fd }) => close(fd)))
}

/**
 * Fails if a source was written while GDAL read it: GDAL may then have read something else than the checked
 * image, for example a virtual raster that names other files.
 */
export async function assertUnchanged(sources: readonly OpenSource[], paths: readonly string[]): Promise<void> {
  for (const [index, source] of sources.entries()) {
    for (const { fd, identity } of filesOf(source)) {
      if (!isSame(await identityOf(fd), identity)) failAsChanged(paths[index]!)
    }
  }
}

/** Waits until a change of the file would be visible: two writes within one tick of the clock leave the same change time. */
export async function settle(source: OpenFile): Promise<void> {
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
