import { readFileSync } from 'node:fs'
import { missingParts } from '../../machine/missing-parts.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'

/** Each connection and each open archive takes one descriptor. */
const FEW_DESCRIPTORS = 10_000
const TOO_FEW_DESCRIPTORS = 1_024

export function checkMachine({ engines, version }: Installation): readonly Finding[] {
  return [node(engines, version), descriptors()]
}

/** The parts that `npm start` names too. An image has what its service needs, and nothing is installed into it. */
export function checkMissing({ container }: Installation): readonly Finding[] {
  const missing = container ? null : missingParts()
  return missing === null ? [] : [warn('machine', `missing: ${missing.finding}`, missing.command)]
}

function node(engines: string, version: string): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [[from = 0, fromMinor = 0] = [], [below = 0] = []] = (engines.match(/\d+(?:\.\d+)?/g) ?? []).map((text) =>
    text.split('.').map(Number),
  )
  const fits = (major > from || (major === from && minor >= fromMinor)) && major < below
  const found = `Node ${process.versions.node}, gateway ${version}`
  return fits ? ok('machine', found) : fault('machine', found, `install Node ${engines}`)
}

/** Node has already raised its soft limit to the hard one. */
function descriptors(): Finding {
  const limit = Number(/^Max open files\s+(\d+)/m.exec(readLimits())?.[1] ?? Number.POSITIVE_INFINITY)
  const found = `${Number.isFinite(limit) ? limit : 'unlimited'} open files for each process`
  const advice =
    'raise the hard limit (LimitNOFILE of systemd, ulimits of compose, ulimit -Hn); each connection takes one'
  if (limit < TOO_FEW_DESCRIPTORS) return fault('machine', found, advice)
  return limit < FEW_DESCRIPTORS ? warn('machine', found, advice) : ok('machine', found)
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
