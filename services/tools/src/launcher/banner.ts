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
  readonly demo: DemoAddresses | null
}

/** Returns the text that the start command prints once everything is ready: one line for each thing to open, with commands to paste. The last line says that it is ready. */
export function banner({ consoleUrl, docsUrl, credentials, demo }: BannerFacts): string {
  const lines = [line('Console', consoleUrl), line('', credentials), ...demoLines(demo)]
  lines.push(line('Docs', docsUrl), line('Gateway', 'ready; Ctrl-C stops it'))
  return `\n${lines.join('\n')}\n\n`
}

/** Returns one line for each thing to try. */
export function demoLines(demo: DemoAddresses | null): string[] {
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
