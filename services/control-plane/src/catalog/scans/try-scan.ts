import type { Refusal } from '@gateway/contracts/errors.js'
import { type CodedMessage, codeFields, storedMessage, textOf } from '@gateway/contracts/messages.js'
import type { TriedScan } from '@gateway/contracts/scan-source.js'
import { readBasemaps } from '@gateway/store/basemaps.js'
import { readFontsOfSource, readStyles } from '@gateway/store/styles.js'
import { readVectors } from '@gateway/store/vectors.js'
import type { ControlContext } from '../../platform/context.js'
import { diffBasemaps } from './diff/diff-basemaps.js'
import { diffStyles } from './diff/diff-styles.js'
import { diffVectors } from './diff/diff-vectors.js'
import { previewLayers } from './preview-layers.js'
import { type ScannedSource, walkSource } from './run.js'
import { withScanLock } from './scan-lock.js'
import type { Warnings } from './walk/found.js'
import { WalkError } from './walk/walk.js'
import type { Found } from './walk/walk-process.js'

/** Maximum number of names in each list of changes. */
const MAX_LISTED = 1000

/**
 * Returns the outcome of a scan without storing it. The source need not be registered. Refused during a scan. A directory that cannot be read is
 * reported in `problem`.
 */
export function tryScan(ctx: ControlContext, source: ScannedSource, signal: AbortSignal): Promise<TriedScan | Refusal> {
  return withScanLock(ctx, async ({ held }) => {
    try {
      const found = await walkSource(ctx, source, AbortSignal.any([held, signal]))
      const outcome = await compare(ctx, source, found)
      if (source.kind !== 'service' || found.kind !== 'basemap') return outcome
      const layers = found.found.basemaps.slice(0, MAX_LISTED)
      return { ...outcome, layers: await previewLayers(ctx, source, layers, signal) }
    } catch (error) {
      if (!(error instanceof WalkError)) throw error
      const nothing = {
        added: 0,
        updated: 0,
        missing: 0,
        found: [],
        lost: [],
        warnings: 0,
        messages: [],
        coded_messages: [],
      }
      const { message_code: problem_code, message_params: problem_params } = codeFields(error.said)
      return { ...nothing, problem: error.message, problem_code, problem_params }
    }
  })
}

/** Under the lock, all known items are older than the walk. */
const NOTHING_IS_NEWER = new Date(8.64e15)

async function compare(ctx: ControlContext, { code }: ScannedSource, { kind, found }: Found): Promise<TriedScan> {
  if (kind === 'style') {
    const fonts = await readFontsOfSource(ctx.sql, code)
    const {
      upserts,
      lostCodes,
      warnings,
      fontsChanged: _,
      ...counts
    } = diffStyles(found, await readStyles(ctx.sql, null), fonts, code)
    const codes = upserts.map((style) => style.code)
    return { ...tried(counts, codes, lostCodes), ...warned(found.warnings, warnings) }
  }
  if (kind === 'vector') {
    const { upserts, lostCodes, ...counts } = diffVectors(found.vectors, await readVectors(ctx.sql, null), code)
    const paths = upserts.map((vector) => vector.relativePath)
    return { ...tried(counts, paths, lostCodes), ...warned(found.warnings, []) }
  }
  const context = { sourceCode: code, startedAt: NOTHING_IS_NEWER, tileBaseUrl: ctx.settings.tilePublicBaseUrl }
  const { changes, warnings, ...counts } = diffBasemaps(found, await readBasemaps(ctx.sql, null), context)
  const versions = changes.flatMap((change) => change.versions.map(({ version }) => `${change.code}/${version}`))
  const lost = changes.flatMap((change) => change.lost.map((version) => `${change.code}/${version}`))
  return { ...tried(counts, versions, lost), ...warned(found.warnings, warnings) }
}

function tried(
  counts: Pick<TriedScan, 'added' | 'updated' | 'missing'>,
  found: readonly string[],
  lost: readonly string[],
) {
  const { added, updated, missing } = counts
  return {
    added,
    updated,
    missing,
    found: found.slice(0, MAX_LISTED),
    lost: lost.slice(0, MAX_LISTED),
    problem: null,
    problem_code: null,
    problem_params: null,
  }
}

function warned({ coded, total }: Warnings, more: readonly CodedMessage[]) {
  const said = [...coded, ...more].map((one) => storedMessage(textOf(one), one))
  const kept = said.slice(0, MAX_LISTED)
  return { warnings: total + more.length, messages: kept.map(({ message }) => message), coded_messages: kept }
}
