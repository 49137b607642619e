#!/usr/bin/env node
// Keeps a PMTiles archive on disk as new as a basemap of the gateway. Node 20 or later, no packages:
//
//   node docs/examples/apply/keep.mjs http://127.0.0.1:8910 world world.pmtiles --header "Authorization: Bearer ..."
//
// It reads which version the file has, and finds the archives that lead from there to the default version (or to --version) by the fewest bytes: a
// series of deltas, or a whole archive. It can be ended at any time: the next run goes on with what is there. The token needs the scope `read`.
import { rename, rm, stat } from 'node:fs/promises'
import { apply, download, openArchive } from './apply.mjs'

/** The label of the version in a file; null: there is no file. */
async function versionOf(file) {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  if (!isThere) return null
  const archive = await openArchive(file)
  await archive.close()
  return archive.metadata.version ?? null
}

/** The archives that lead from one version to another by the fewest bytes, in their order; null: none do. */
export function wayBetween(archives, from, to) {
  const best = new Map([[from, { bytes: 0, way: [] }]])
  const open = [from]
  while (open.length > 0) {
    open.sort((a, b) => best.get(b).bytes - best.get(a).bytes)
    const at = open.pop()
    if (at === to) return best.get(at).way
    const { bytes, way } = best.get(at)
    // A whole archive may replace whatever is there.
    for (const archive of archives.filter(({ from_version }) => from_version === at || from_version === null)) {
      const known = best.get(archive.version)
      if (known !== undefined && known.bytes <= bytes + archive.bytes) continue
      best.set(archive.version, { bytes: bytes + archive.bytes, way: [...way, archive] })
      open.push(archive.version)
    }
  }
  return null
}

async function keep(gateway, code, file, { version, headers }) {
  const base = `${gateway.replace(/\/$/, '')}/api/v1/catalog/basemaps/${encodeURIComponent(code)}`
  const read = async (url) => {
    const answer = await fetch(url, { headers })
    if (!answer.ok) throw new Error(`${url} returned ${answer.status}`)
    return answer.json()
  }
  const wanted = version ?? (await read(base)).default_version
  const had = await versionOf(file)
  if (had === wanted) return console.log(`${file} has the version ${wanted} already`)
  const way = wayBetween((await read(`${base}/archives`)).items, had, wanted)
  if (way === null) throw new Error(`no archives lead from the version ${had ?? '(none)'} to ${wanted}`)
  for (const { id, version: next, from_version, bytes } of way) {
    const fetched = `${file}.delta`
    await download(`${base}/archives/${id}`, fetched, headers)
    if ((await stat(fetched)).size !== bytes) throw new Error('the download was cut; run this again to go on')
    if (from_version === null) await rename(fetched, file)
    else await apply(file, fetched, file)
    for (const one of [fetched, `${fetched}.etag`]) await rm(one, { force: true })
    console.log(`${file} has the version ${next} now, by ${bytes} bytes`)
  }
}

async function main(gateway, code, file, ...options) {
  if (file === undefined) throw new Error('keep GATEWAY CODE FILE [--version LABEL] [--header "Name: value"]')
  const wanted = { version: undefined, headers: {} }
  for (let i = 0; i < options.length; i += 2) {
    const [name, value] = [options[i], options[i + 1] ?? '']
    const colon = value.indexOf(':')
    if (name === '--version' && value !== '') wanted.version = value
    else if (name === '--header' && colon > 0) wanted.headers[value.slice(0, colon)] = value.slice(colon + 1).trim()
    else throw new Error(`${name} is not known, or has no value`)
  }
  await keep(gateway, code, file, wanted)
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
