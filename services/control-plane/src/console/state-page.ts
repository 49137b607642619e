import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Ledger } from '@gateway/store/ledger.js'

export interface State {
  readonly version: string
  readonly basemaps: readonly AdminBasemap[]
  readonly ledger: Ledger
  readonly edges: readonly EdgePresence[]
}

/** The state of the gateway as a page without script or style: what an installation without the built console shows. */
export function statePage({ version, basemaps, ledger, edges }: State): string {
  const rows = basemaps.map(
    (basemap) => `<tr>
<td>${escaped(basemap.code)}</td><td>${escaped(basemap.name)}</td><td>${escaped(basemap.default_version ?? 'none')}</td>
<td>${basemap.versions.map((v) => escaped(`${v.version} (${v.storage}, ${v.format}${v.available ? '' : ', unavailable'})`)).join('<br>')}</td>
<td><code>${escaped(basemap.url_template)}</code></td>
</tr>`,
  )
  const processes = edges.map(
    (edge) =>
      `<li>${escaped(edge.host)}, process ${edge.pid}, version ${escaped(edge.version)}, since ${edge.started_at}</li>`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Map asset gateway</title>
<link rel="icon" href="data:,"></head>
<body>
<h1>Map asset gateway ${escaped(version)}</h1>
<p>${ledger.basemaps} basemaps with ${ledger.versions} versions (${ledger.versions_unavailable} unavailable),
${ledger.vectors} vectors (${ledger.vectors_unavailable} unavailable)</p>
<p><a href="/admin/docs/">API reference</a> · <a href="/api/v1/admin/dashboard">Dashboard data</a> ·
<a href="/api/v1/admin/vectors">Vectors</a> · <a href="/api/v1/admin/tokens">Tokens</a> ·
<a href="/api/v1/admin/scan-sources">Scan sources</a> · <a href="/api/v1/admin/audit">Audit</a> · <a href="/metrics">Metrics</a></p>
<h2>Basemaps</h2>
<table border="1">
<tr><th>Code</th><th>Name</th><th>Default version</th><th>Versions</th><th>Tile address</th></tr>
${rows.join('\n')}
</table>
<h2>Edge processes</h2>
<ul>${processes.join('\n')}</ul>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ENTITIES[c] as string)
}
