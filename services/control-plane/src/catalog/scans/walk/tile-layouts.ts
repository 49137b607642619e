import type { ListFolder } from './candidates.js'

/** Known layouts by the form of a path below a folder of tiles. The first match applies. */
const LAYOUTS: readonly { readonly path: RegExp; readonly name: string }[] = [
  {
    path: /^(?:Layers\/)?(?:_alllayers\/)?L\d\d\/R[0-9a-f]{4}C[0-9a-f]{4}\.bundle$/i,
    name: 'of an Esri compact cache (L00/R0000C0000.bundle) without its conf.xml',
  },
  { path: /^\w+_\d\d\/\d+_\d+\/\d+_\d+\.\w+$/, name: 'of GeoWebCache (EPSG_900913_00/0_0/00_00)' },
  {
    path: /^(?:0\d\/\d+\/\d+|\d\d?\/(?:0\d+\/\d+|\d+\/0\d+))\.\w+$/,
    name: 'of numbers with leading zeros (00/000/000)',
  },
]

/** Maximum depth below a folder, which is that of the deepest layout. */
const DEPTH = 7
/** Number of entries of each kind that are followed in a folder, since the first may not belong to the tiles. */
const FOLLOWED = 3

/** Returns the name of the layout in which a folder holds tiles, or null if it is unknown. Lists a few folders, however large it is. */
export async function layoutOf(folder: string, list: ListFolder): Promise<string | null> {
  const paths: string[] = []
  await follow(folder, '', list, DEPTH, paths)
  return LAYOUTS.find(({ path }) => paths.some((one) => path.test(one)))?.name ?? null
}

async function follow(folder: string, prefix: string, list: ListFolder, depth: number, paths: string[]): Promise<void> {
  const entries = await list(folder)
  const files = entries.filter(({ kind, name }) => kind === 'file' && /\d/.test(name))
  // The last ones too, because names of the first zooms may be written without leading zeros.
  for (const { name } of new Set([...files.slice(0, FOLLOWED), ...files.slice(-FOLLOWED)])) paths.push(prefix + name)
  if (depth === 1) return
  const folders = entries.filter(
    ({ kind, isLink, name }) =>
      kind === 'directory' && !isLink && (/\d/.test(name) || /^(?:_alllayers|layers)$/i.test(name)),
  )
  for (const { name, path } of folders.slice(0, FOLLOWED))
    await follow(path, `${prefix}${name}/`, list, depth - 1, paths)
}
