import { basename, extname, relative } from 'node:path'
import { compareVersions } from '@gateway/store/default-version.js'
import { geopackagePlace } from '@gateway/tilesets/geopackage/place.js'
import type { Candidate } from './candidates.js'
import type { FoundBasemap } from './found.js'

/** Returns the codes of the basemaps that these paths below a source may belong to: `world/v1` and `world.pmtiles` have `world`. */
export function codesOfPaths(changed: readonly string[]): ReadonlySet<string> {
  const tops = changed.map((path) => path.split('/')[0] as string)
  return new Set(tops.flatMap((name) => [name, basename(name, extname(name))]))
}

/** Splits candidates into those that changes of these paths may affect, with all others of the same version, and the rest. */
export function splitByChange(candidates: readonly Candidate[], changed: readonly string[] | null, root: string) {
  if (changed === null) return { touched: candidates, untouched: [] }
  const isTouched = ({ entry }: Candidate) => {
    const path = relative(root, entry.path)
    // The codes of a GeoPackage are known only when it is read.
    return geopackagePlace(path) !== null || changed.some((one) => isBelow(path, one) || isBelow(one, path))
  }
  const keys = new Set(candidates.filter(isTouched).map(keyOf))
  return {
    touched: candidates.filter((one) => keys.has(keyOf(one))),
    untouched: candidates.filter((one) => !keys.has(keyOf(one))),
  }
}

/** A basemap takes its name from its newest version that has one. If the newest version was not scanned, the basemap keeps its name. */
export function namedByNewest(basemap: FoundBasemap, untouched: readonly Candidate[]): FoundBasemap {
  const newest = basemap.versions.at(-1)?.version ?? ''
  const hasNewer = untouched.some(({ code, version }) => code === basemap.code && compareVersions(version, newest) > 0)
  return hasNewer ? { ...basemap, name: null } : basemap
}

function keyOf({ code, version }: Candidate): string {
  return `${code}\0${version}`
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
