import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Matches the programs of GDAL, and its module of Python. */
const PROGRAMS =
  /['"](?:ogr2ogr|ogrinfo|gdal(?:_translate|_create|info|addo|warp|buildvrt|srsinfo|locationinfo|2tiles\.py)|osgeo)\b|from osgeo/
/** Matches the import of the constant by which a file skips its tests itself. */
const SKIPS_ITSELF = /\/(?:has-gdal\.js|without-gdal\.mjs)'/

/**
 * Returns the test files that need GDAL: those that run its programs, themselves or by a helper that they import.
 * @param root the folder of the repository
 */
export function filesThatNeedGdal(root) {
  const projects = ['libs', 'services'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, 'src')),
  )
  const files = [...projects, 'test']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
    .filter((file) => file.endsWith('.ts') && !/node_modules|\/dist\//.test(file))
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const isTest = (file) => /\.test\.ts$/.test(file)
  // A product's file that names a program is no reason to skip its tests.
  const isHelper = (file) => isTest(file) || /\/testing\/|^test\//.test(file)
  const known = new Map()
  const needs = (file) => {
    const text = texts.get(file)
    if (known.has(file) || text === undefined || !isHelper(file)) return known.get(file) ?? false
    known.set(file, false)
    const imported = [...text.matchAll(/from '(\.{1,2}\/[^']+)\.js'/g)].map(([, path]) =>
      join(dirname(file), `${path}.ts`),
    )
    known.set(file, !SKIPS_ITSELF.test(text) && (PROGRAMS.test(text) || imported.some(needs)))
    return known.get(file)
  }
  return files.filter((file) => isTest(file) && needs(file))
}
