import { join } from 'node:path'
import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { commitWithChanges } from '@gateway/store/change-log.js'
import type { Sql, Transaction } from '@gateway/store/connect.js'
import { sampleCode } from './files.js'

const CODES = Array.from({ length: 314 }, (_, n) => sampleCode(n))

/** Reasons of failed deliveries. */
const PUSH_FAILURES: readonly (readonly [target: string, status: number | null, reason: CodedMessage])[] = [
  ['dispatch-centre', 503, coded('delivery_answered', { status: '503 Service Unavailable' })],
  ['dispatch-centre', 503, coded('delivery_answered', { status: '503 Service Unavailable' })],
  ['city-portal', 401, coded('delivery_answered', { status: '401 Unauthorized' })],
  ['city-portal', null, coded('delivery_connection_refused')],
  ['partner-authority', null, coded('delivery_no_answer', { seconds: 30 })],
  ['field-tablets', null, coded('disk_full')],
]

/** Reasons of failed slicing jobs: messages with a code, which the console translates, and without. */
const JOB_FAILURES = [
  [
    'the source "imagery/west.tif" is a GTiff image that cannot be read: it is damaged, or has an unsupported encoding',
    { code: 'slice_source_damaged', params: { source: '"imagery/west.tif"', format: 'GTiff' } },
  ],
  [
    'the source "imagery/all.zip" is a packed file (zip); unpack it and submit what is in it',
    { code: 'slice_source_archive', params: { source: '"imagery/all.zip"', format: 'zip' } },
  ],
  ['the disk is full: there is not enough free space for the tiles or the scratch files', null],
] as const

const AUDIT_ACTIONS = [
  'token.issue',
  'token.update',
  'token.disable',
  'token.rotate',
  'basemap.default-version',
  'basemap.withdraw',
  'version.withdraw',
  'scan-source.run',
  'slice.submit',
  'push.create',
  'push.retry',
  'session.begin',
]

/**
 * Fills a migrated store with the data of an organization after a year: 5,001 tokens, 50 slicing jobs, 60 pushes of which 40 failed, 2,200
 * audit entries, usage, refusals, and sources for the files below `dir`, whose scans are queued. No other work in it is due.
 */
export async function fillSample(sql: Sql, dir: string): Promise<void> {
  await commitWithChanges(sql, async (tx) => {
    await addSources(tx, dir)
    await addTokens(tx)
    await addUsage(tx)
    await addJobs(tx)
    await addPushes(tx)
    await addAudit(tx)
    return { result: undefined, changes: [{ kind: 'all', key: '' }] }
  })
}

async function addSources(tx: Transaction, dir: string) {
  const [maps, vectors, gone] = ['maps', 'vectors', 'unmounted-share'].map((folder) => join(dir, folder))
  await tx`
    INSERT INTO scan_sources (code, name, kind, path, enabled) VALUES
      ('maps', 'Maps of the survey office', 'basemap', ${maps as string}, true),
      ('vectors', 'Downloads of the survey office', 'vector', ${vectors as string}, true),
      ('archive-share-1', 'Archive share of the harbour authority 1', 'basemap', ${gone as string}, false),
      ('archive-share-2', 'Archive share of the harbour authority 2', 'vector', ${gone as string}, false)`
  await tx`INSERT INTO scan_queue (source_code) VALUES ('maps'), ('vectors')`
  const missing = coded('scan_root_missing', { path: gone as string })
  await tx`
    INSERT INTO scans (source_code, status, started_at, finished_at, message, message_coded)
    SELECT 'archive-share-' || 1 + n % 2, 'failed', now() - n * interval '1 day', now() - n * interval '1 day',
           ${textOf(missing)}, ${tx.json(missing)}
    FROM generate_series(1, 10) AS n`
  await tx`
    INSERT INTO basemaps (code, name, set_name, tile_base_url, source_code)
    SELECT code, code, initcap(replace(code, '-', ' ')), '', 'maps' FROM unnest(${CODES}::text[]) AS code`
  // The files of these basemaps are missing, and the scan reports it.
  await tx`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint)
    SELECT code, version, 'mbtiles', 'png', 'png', 256, 0, 2, ${maps as string} || '/' || code || '/' || version || '.mbtiles', 'gone'
    FROM unnest(${CODES.slice(-2)}::text[]) AS code, unnest('{2025-11,2026-11}'::text[]) AS version`
}

async function addTokens(tx: Transaction) {
  await tx`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, created_at, expires_at, disabled_at, last_used_at,
                        first_used_at, last_used_from, first_used_from, allowed_origins, allowed_networks)
    SELECT 'Harbour authority dispatch terminal ' || to_char(n, 'FM0000'), 'bmp_' || substr(md5(n::text), 1, 8),
           sha256(convert_to('sample ' || n, 'UTF8')),
           CASE WHEN n % 5 = 0 THEN '{*}' ELSE (${CODES}::text[])[1 + n % 300 : 3 + n % 300] END,
           CASE WHEN n % 3 = 0 THEN '{*}'::text[] ELSE '{}' END,
           CASE WHEN n % 50 = 0 THEN '{read,slice}'::text[] ELSE '{read}' END,
           now() - n * interval '1 hour',
           CASE WHEN n % 4 = 0 THEN NULL ELSE now() + (n % 400 - 60) * interval '1 day' END,
           CASE WHEN n % 31 = 0 THEN now() - interval '3 days' END,
           used.at, used.at - interval '90 days', used.from, used.from,
           CASE WHEN n % 40 = 0 THEN '{https://maps.example.org,https://maps.example.com}'::text[] ELSE '{}' END,
           CASE WHEN n % 60 = 0 THEN '{192.0.2.0/24,2001:db8::/32}'::text[] ELSE '{}' END
    FROM generate_series(1, 5001) AS n, LATERAL (
      SELECT CASE WHEN n % 7 > 0 THEN now() - n * interval '7 minutes' END AS at,
             CASE WHEN n % 7 > 0 THEN '192.0.2.' || n % 250 END AS from) AS used`
}

async function addUsage(tx: Transaction) {
  await tx`
    INSERT INTO usage_pairs_by_month (token, kind, code, at, requests, tiles, tile_404, refused, bytes, refused_by_grant)
    SELECT id::text, 'basemap', code, date_trunc('hour', now()) - h * interval '1 hour', 500 + h, 450, h % 7, h % 5, 450 * 20000, h % 5
    FROM (SELECT id FROM tokens ORDER BY name LIMIT 20) AS token,
         unnest(${CODES.slice(0, 4)}::text[]) AS code, generate_series(0, 720, 3) AS h`
  for (const [kind, column] of [
    ['token', 'token'],
    ['basemap', 'code'],
  ] as const) {
    await tx`
      INSERT INTO usage_by_month (kind, id, at, requests, tiles, tile_404, refused, bytes, refused_by_grant)
      SELECT ${kind}, ${tx(column)}, at, sum(requests), sum(tiles), sum(tile_404), sum(refused), sum(bytes), sum(refused_by_grant)
      FROM usage_pairs_by_month GROUP BY ${tx(column)}, at`
  }
  await tx`
    INSERT INTO token_refusals (token_id, reason, requests, last_at)
    SELECT id, reason, 278, now() - interval '2 hours'
    FROM (SELECT id FROM tokens ORDER BY name LIMIT 20) AS token, unnest('{origin,network,grant,expired,rate}'::text[]) AS reason`
}

async function addJobs(tx: Transaction) {
  const messages = JOB_FAILURES.map(([message]) => message)
  const reasons = JOB_FAILURES.map(([, made]) => JSON.stringify(made))
  await tx`
    INSERT INTO slice_jobs (code, name, source_paths, target_code, version, zoom_min, zoom_max, tile_size, tile_format, status, message,
                            message_coded, progress, requested_by, cancelled, created_at, started_at, finished_at)
    SELECT 'order-' || n, 'Orthophoto of the city, flight strip ' || to_char(n, 'FM000'),
           ARRAY['imagery/strip-' || n || '-a.tif', 'imagery/strip-' || n || '-b.tif'],
           (${CODES}::text[])[1 + n % 3], '2026-11-' || to_char(1 + n % 28, 'FM00'), 0, 12, 256, 'png',
           CASE WHEN fails THEN 'failed' ELSE 'succeeded' END,
           CASE WHEN n % 15 = 0 THEN 'cancelled' WHEN fails THEN (${messages}::text[])[1 + n / 3 % 3] ELSE '' END,
           CASE WHEN fails AND n % 15 > 0 THEN nullif((${reasons}::text[])[1 + n / 3 % 3]::jsonb, 'null') END,
           CASE WHEN fails THEN 40 ELSE 100 END, 'operator ' || n % 4, n % 15 = 0, at, at + interval '1 minute', at + interval '40 minutes'
    FROM generate_series(1, 50) AS n, LATERAL (SELECT n % 3 = 0 AS fails, now() - n * interval '5 hours' AS at) AS job`
  await tx`
    INSERT INTO layer_sources (target_code, version, path, job_id)
    SELECT DISTINCT ON (target_code, version, path) target_code, version, path, id
    FROM slice_jobs, unnest(source_paths) AS path WHERE status = 'succeeded'`
}

async function addPushes(tx: Transaction) {
  await tx`
    INSERT INTO targets (code, name, kind, url, path, mode, enabled) VALUES
      ('dispatch-centre', 'Dispatch centre of the fire brigade', 'http', 'https://dispatch.example.org/maps', NULL, 'notify', true),
      ('city-portal', 'City portal', 'http', 'https://portal.example.org/hook', NULL, 'upload', true),
      ('partner-authority', 'Partner authority', 'http', 'https://partner.example.org/hook', NULL, 'notify', true),
      ('field-tablets', 'Field tablets', 'directory', NULL, '/srv/field-tablets', 'upload', true),
      ('old-portal', 'Old portal', 'http', 'https://old.example.org/hook', NULL, 'notify', false)`
  const targets = PUSH_FAILURES.map(([target]) => target)
  const statuses = PUSH_FAILURES.map(([, status]) => status)
  const messages = PUSH_FAILURES.map(([, , reason]) => textOf(reason))
  const reasons = PUSH_FAILURES.map(([, , reason]) => JSON.stringify(reason))
  await tx`
    INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, vector_code, status, attempts, message,
                            message_coded, due_at, created_at, updated_at)
    SELECT CASE WHEN n % 3 = 0 THEN 'vector_push' ELSE 'basemap_push' END, 'message', target, target,
           CASE WHEN n % 3 > 0 THEN (${CODES}::text[])[n] END, CASE WHEN n % 3 > 0 THEN '2026-11' END,
           CASE WHEN n % 3 = 0 THEN (${CODES}::text[])[n] END,
           CASE WHEN n <= 40 THEN 'failed' WHEN n <= 42 THEN 'retrying' ELSE 'succeeded' END, 3,
           CASE WHEN n <= 42 THEN (${messages}::text[])[1 + n % 6] ELSE '' END,
           CASE WHEN n <= 42 THEN (${reasons}::text[])[1 + n % 6]::jsonb END,
           CASE WHEN n IN (41, 42) THEN now() + interval '1 day' END, at, at + interval '10 minutes'
    FROM generate_series(1, 60) AS n,
         LATERAL (SELECT (${targets}::text[])[1 + n % 6] AS target, now() - n * interval '2 hours' AS at) AS push`
  await tx`
    INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, http_status, message, message_coded)
    SELECT id, created_at + i * interval '3 minutes', 300 + i, CASE WHEN status = 'succeeded' AND i = 3 THEN 'succeeded' ELSE 'failed' END,
           CASE WHEN status = 'succeeded' AND i = 3 THEN 200
                ELSE (${statuses as number[]}::int[])[array_position(${messages}::text[], message)] END, message, message_coded
    FROM deliveries, generate_series(1, 3) AS i WHERE target_code IS NOT NULL`
}

async function addAudit(tx: Transaction) {
  await tx`
    INSERT INTO audit (chain_position, at, actor, address, action, subject, detail)
    SELECT 0, now() - n * interval '3 hours', 'operator ' || n % 4, '192.0.2.' || n % 250, (${AUDIT_ACTIONS}::text[])[1 + n % 12],
           CASE WHEN n % 12 < 4 THEN tokens.id::text
                ELSE (${CODES}::text[])[1 + n % 314] END,
           jsonb_build_object('before', jsonb_build_object('name', 'terminal', 'disabled_at', NULL, 'default_version', '2025-11'),
                              'after', jsonb_build_object('name', 'terminal ' || n, 'disabled_at', now(), 'default_version', '2026-11'))
    FROM generate_series(1, 2200) AS n LEFT JOIN tokens ON prefix = 'bmp_' || substr(md5(n::text), 1, 8) ORDER BY n DESC`
}
