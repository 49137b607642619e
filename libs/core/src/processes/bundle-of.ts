import { existsSync } from 'node:fs'

/** A folder of bundles (services/tools/setup/bundles.mjs), which mirrors the checkout. */
const FOLDER = /^(.*)(\/node_modules\/\.bundles\/[^/]+\/)/

/**
 * Returns the bundle of a compiled file if this process runs from a bundle itself, and the file otherwise: the processes of one gateway are
 * either all bundled or not.
 * @param file absolute path of the file with which a process starts
 * @param own absolute path of the file with which this process was started
 */
export function bundleOf(file: string, own = process.argv[1] ?? ''): string {
  const [, root, folder] = FOLDER.exec(own) ?? []
  if (root === undefined || folder === undefined || !file.startsWith(`${root}/`)) return file
  const bundle = root + folder + file.slice(root.length + 1)
  return existsSync(bundle) ? bundle : file
}
