import { copyFile, link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { pathsOfVersions, readBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import { type JobLease, renewLease } from '@gateway/store/jobs.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { registerVersion } from '../catalog/register/register-version.js'
import { versionRecord } from '../catalog/register/version-record.js'
import { JOB_LEASE } from '../jobs/leases.js'
import { LeaseLost } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish, edgesFollow } from '../platform/edges/commit.js'

/** Age of an archive without a version, before which its version may still be registered. */
const LEFT_MS = 24 * 3_600_000

/** Directory of the archives that are served as versions of services' basemaps. Control planes and edges share it, as they share imports. */
const publishedDirectory = (dataDir: string): string => path.join(dataDir, 'published')

/**
 * Serves the archive of an export as a version of its basemap, and waits for the edges. The version has its own file, which stays when the export is
 * removed. After a crash, this runs again with the same result. Throws `LeaseLost`. @returns why it cannot be published; null: it is served
 */
export async function publishExport(
  ctx: ControlContext,
  { id, basemapCode, label, archive }: Record<'id' | 'basemapCode' | 'label' | 'archive', string>,
  lease: JobLease,
): Promise<CodedMessage | null> {
  const directory = publishedDirectory(ctx.settings.dataDir)
  const file = path.join(directory, `${id}.pmtiles`)
  await mkdir(directory, { recursive: true })
  await rm(file, { force: true })
  // Some file systems have no links.
  await link(archive, file).catch(() => copyFile(archive, file))
  const probe = await probeTileSet(directory, file)
  if (probe === null) throw new Error('the written archive holds no tile')
  const { result, revision } = await commitAndPublish<CodedMessage | null>(ctx, async (tx) => {
    if ((await renewLease(tx, lease, JOB_LEASE.leaseSeconds, { progress: 99, phase: 'publishing' })) === 'lost')
      throw new LeaseLost()
    const basemap = await readBasemap(tx, basemapCode)
    if (basemap === null) return { result: coded('delivery_version_unavailable'), changes: [] }
    const { defaultVersion, setDefault, scannedName: name, tileBaseUrl, sourceCode, versions } = basemap
    if (versions.some((one) => one.version === label && one.path !== file))
      return { result: coded('export_publish_taken', { version: label }), changes: [] }
    const record = versionRecord(label, file, probe)
    const changes = await registerVersion(tx, { code: basemapCode, name, tileBaseUrl, sourceCode }, record, false)
    // Readers keep what they have: what is kept of a service is seldom all of it.
    if (setDefault === null && defaultVersion !== null) await setDefaultVersion(tx, basemapCode, defaultVersion)
    return { result: null, changes }
  })
  if (result !== null) await rm(file, { force: true })
  await edgesFollow(ctx, revision)
  return result
}

/** Deletes published archives whose versions were deleted. */
export async function removeUnpublished({ sql, settings, now }: ControlContext): Promise<void> {
  const directory = publishedDirectory(settings.dataDir)
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.map((name) => path.join(directory, name))
  const known = await pathsOfVersions(sql, files)
  for (const file of files.filter((one) => !known.has(one))) {
    const touched = (await stat(file).catch(() => null))?.ctimeMs
    if (touched !== undefined && touched < now() - LEFT_MS) await rm(file, { force: true })
  }
}
