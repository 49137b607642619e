/** The path of every page of the console, by a name for files, with what a running gateway has to show there. Pages without anything are left out. */
export async function pagesOf(api) {
  const first = async (list) => (await api(list).catch(() => ({ items: [] }))).items[0]
  const [basemap, vector, style, token, source, target, job, push, edge, entry] = await Promise.all([
    first('/basemaps?limit=1'),
    first('/vectors?limit=1'),
    first('/styles?limit=1'),
    first('/tokens?limit=1&sort=name'),
    first('/scan-sources'),
    first('/targets'),
    first('/slice/jobs?limit=1'),
    first('/push-records?limit=1'),
    first('/edges'),
    first('/audit?limit=1'),
  ])
  const version = basemap?.versions.at(-1)?.version
  const tabs = (name, path, ids) => ids.map((id) => [`${name}-${id}`, `${path}?tab=${id}`])
  const of = (thing, pages) => (thing === undefined ? [] : pages())
  return [
    ['overview', '/'],
    ...tabs('overview', '/', ['busiest', 'activity']),
    ['edges', '/edges'],
    ...of(edge, () => [['edge', `/edges/${encodeURIComponent(edge.id)}`]]),
    ['basemaps', '/basemaps'],
    ['versions', '/versions'],
    ...of(basemap, () => [
      ['basemap', `/basemaps/${basemap.code}`],
      ...tabs('basemap', `/basemaps/${basemap.code}`, ['usage', 'access', 'addresses', 'details']),
      ['compare', `/basemaps/${basemap.code}/compare`],
    ]),
    ...of(version, () => {
      const path = `/basemaps/${basemap.code}/versions/${version}`
      return [['version', path], ...tabs('version', path, ['usage', 'addresses']), ['export', `${path}/export`]]
    }),
    ['vectors', '/vectors'],
    ...of(vector, () => [['vector', `/vectors/${vector.code}`]]),
    ['styles', '/styles'],
    ...of(style, () => [
      ['style', `/styles/${style.code}`],
      ['style-edit', `/styles/${style.code}/edit`],
      ['styles-compare', `/styles/compare?left=${style.code}`],
    ]),
    ['preview', '/preview'],
    ...of(basemap, () => [['preview-layers', `/preview?layers=${encodeURIComponent(`basemap/${basemap.code}//40`)}`]]),
    ['tokens', '/tokens'],
    ['token-new', '/tokens/new'],
    ['partner', '/tokens/partner'],
    ...of(token, () => [['token', `/tokens/${token.id}`]]),
    ['signing-keys', '/signing-keys'],
    ['sources', '/sources'],
    ['source-new', '/sources/new'],
    ...of(source, () => [['source', `/sources/${source.code}`]]),
    ['slicing', '/slicing'],
    ['slice-new', '/slicing/new'],
    ...of(job, () => [['job', `/slicing/jobs/${job.id}`]]),
    ['pushes', '/pushes'],
    ['targets', '/pushes?show=targets'],
    ['exports', '/pushes?show=exports'],
    ['push-new', '/pushes/new'],
    ['target-new', '/pushes/targets/new'],
    ...of(target, () => [['target', `/pushes/targets/${target.code}`]]),
    ...of(push, () => [['push', `/pushes/basemap/${push.id}`]]),
    ['notifications', '/notifications'],
    ['notifications-sent', '/notifications?tab=sent'],
    ['audit', '/audit'],
    ...of(entry, () => [['audit-entry', `/audit/${entry.id}`]]),
    ['settings', '/settings'],
    ['missing', '/there-is-no-such-page'],
    ['missing-basemap', '/basemaps/no-such'],
  ]
}
