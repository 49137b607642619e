import type { CredentialsOutcome } from '@gateway/core/settings/admin-credentials.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { Missing } from '../machine/missing-parts.js'

/** URLs of demo resources, including the token; null for kinds without one. */
export interface DemoAddresses {
  /** URL of the page that draws it */
  readonly map: string | null
  readonly tilejson: string | null
  readonly tile: string | null
  readonly geojson: string | null
  readonly shapefile: string | null
  readonly style: string | null
  /** slice job to submit, and its JSON body */
  readonly slice: { readonly url: string; readonly body: string } | null
}

export interface BannerFacts {
  readonly consoleUrl: string
  readonly docsUrl: string
  /** where to find the console's user name and password */
  readonly credentials: string
  /** null: not wanted */
  readonly demo: DemoAddresses | NoDemo | null
  /** programs that this machine lacks; null: none */
  readonly missing: Missing | null
}

export interface NoDemo {
  /** reason why there is no demo, for people */
  readonly reason: string
}

/** Returns the text that the start command prints once everything is ready: one line for each thing to open, with commands to paste. The last line says that it is ready. */
export function banner({ consoleUrl, docsUrl, credentials, demo, missing }: BannerFacts): string {
  const lines = [line('Console', consoleUrl), line('', credentials), ...demoLines(demo)]
  lines.push(line('Docs', docsUrl))
  if (missing !== null) lines.push(line('Missing', `${missing.finding}: ${missing.command}`))
  lines.push(line('Gateway', 'ready; Ctrl-C stops it'))
  return `\n${lines.join('\n')}\n\n`
}

/** Returns one line for each thing to try. */
export function demoLines(demo: DemoAddresses | NoDemo | null): string[] {
  if (demo !== null && 'reason' in demo) return [line('Demo', demo.reason)]
  const lines: string[] = []
  if (demo?.map) lines.push(line('Map', demo.map))
  if (demo?.tilejson) lines.push(line('TileJSON', demo.tilejson))
  if (demo?.tile) lines.push(line('Tile', curl(demo.tile, `tile.${extensionOf(demo.tile)}`)))
  if (demo?.geojson) lines.push(line('GeoJSON', curl(demo.geojson, 'demo.geojson')))
  if (demo?.shapefile) lines.push(line('Shapefile', curl(demo.shapefile, 'demo-shapefile.zip')))
  if (demo?.style) lines.push(line('Style', demo.style))
  if (demo?.slice) lines.push(line('Slice', post(demo.slice)))
  return lines
}

/** Returns the way into the console. @param file path of CONFIG_FILE, as a person would write it */
export function credentialWords(
  {
    adminUser,
    adminPassword,
    adminToken,
    oidcIssuer,
  }: Pick<Settings, 'adminUser' | 'adminPassword' | 'adminToken' | 'oidcIssuer'>,
  outcome: CredentialsOutcome,
  file: string,
): string {
  if (outcome.state === 'written')
    return `user ${adminUser}; ADMIN_PASSWORD and ADMIN_TOKEN were made and written to ${file}`
  if (outcome.state === 'unwritable')
    return `closed: no ADMIN_PASSWORD is set, and CONFIG_FILE ${file} cannot be written (${outcome.reason})`
  const token = adminToken === null ? [] : ['ADMIN_TOKEN']
  const place = `as set in ${file} or the environment`
  if (adminPassword !== null) return `user ${adminUser}; ${['ADMIN_PASSWORD', ...token].join(' and ')} ${place}`
  if (oidcIssuer !== null) return `sign in through ${oidcIssuer}`
  return `ADMIN_TOKEN ${place}; the console also needs ADMIN_PASSWORD`
}

const LABEL_WIDTH = 'Shapefile   '.length

function line(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${text}`
}

/** Quotes the URL, since `?` and `&` have a meaning in shells. URLs in responses contain no single quote. */
function curl(url: string, file: string): string {
  return `curl -fsS -o ${file} '${url.replaceAll("'", '%27')}'`
}

function post({ url, body }: { readonly url: string; readonly body: string }): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return `curl -fsS -H 'Content-Type: application/json' -d ${quoted(body)} ${quoted(url)}`
}

function extensionOf(url: string): string {
  return /\.(\w+)$/.exec(new URL(url).pathname)?.[1] ?? 'bin'
}
