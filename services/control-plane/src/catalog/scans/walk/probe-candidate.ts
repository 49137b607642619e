import { relative } from 'node:path'
import { CodedError, coded, codeOfSentence, sentence } from '@gateway/contracts/messages.js'
import { archiveStorageOf } from '@gateway/tilesets/probe.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import type { Probed } from '../../probe/probe-result.js'
import { type Prober, TIMED_OUT } from '../../probe/prober.js'
import type { SkippedFiles } from '../skipped/skipped-files.js'
import type { Candidate } from './candidates.js'
import { quoted } from './found.js'
import { type WalkedPlace, warnIn } from './walked-source.js'

/** `busy`: it exists, but cannot be read now. `broken` and `empty`: it has nothing to serve. */
export type ProbedCandidate =
  | { readonly state: 'ok'; readonly candidate: Candidate; readonly probe: TileSetProbe }
  | { readonly state: 'busy' | 'broken' | 'empty'; readonly candidate: Candidate }

/** A walk is cancelled by killing its process, which includes the prober. */
const NEVER = new AbortController().signal

/** Probes a candidate. A defect of an archive becomes a warning; a failed read (permissions, a failing disk) is thrown. */
export async function probeCandidate(
  source: WalkedPlace,
  candidate: Candidate,
  prober: Pick<Prober, 'probe'>,
  skipped?: SkippedFiles,
): Promise<ProbedCandidate> {
  source.progress()
  const { path } = candidate.entry
  const where = quoted(relative(source.root, path))
  try {
    const result = await prober.probe(source.root, path, NEVER)
    switch (result.state) {
      case 'ok':
        for (const warning of result.probe.warnings)
          warnIn(source, coded('scan_doubt', { file: where, reason: codeOfSentence(warning) }))
        return { state: 'ok', candidate, probe: result.probe }
      case 'broken':
        if (skipped !== undefined && archiveStorageOf(path) === 'cog')
          skipped.add(relative(source.root, path), { code: 'scan_geotiff_not_served', format: 'GeoTIFF' }, result.why)
        else warnIn(source, coded('scan_not_servable', { file: where, reason: codeOfSentence(result.why) }))
        return { state: 'broken', candidate }
      case 'unreadable':
      case 'busy':
      case 'timeout':
        warnIn(source, coded('scan_stays', { file: where, reason: codeOfSentence(whyNotRead(result)) }))
        return { state: 'busy', candidate }
      case 'empty':
        return { state: 'empty', candidate }
    }
  } catch (error) {
    throw new CodedError(coded('scan_disk_error', { file: where, words: (error as Error).message }), { cause: error })
  }
}

/** Returns the reason why an existing item could not be read now, for operators. */
export function whyNotRead(result: Exclude<Probed<unknown>, { state: 'ok' | 'empty' }>): string {
  if ('why' in result) return result.why
  return result.state === 'busy' ? sentence('said.locked') : TIMED_OUT
}
