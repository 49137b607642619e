import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { ADDRESS } from './own-id.js'

/** The features of a layer, and how many of them have an id in the source. */
export interface Owner {
  readonly layer: string
  /** fid of its first feature */
  readonly first: number
  /** number of features with an id */
  readonly owned: number
  readonly count: number
  /** true if each id is the key of its row in the source */
  readonly isKey: boolean
}

/**
 * Makes the ids of an index unique: a feature without an id among others with one, and each of those that share one, gets the id `layer.row`. Returns
 * the fids of the changed features. Without any id in the source the fids are the ids.
 */
export function giveIds(db: DatabaseSyncInstance, owners: readonly Owner[]): number[] {
  if (owners.every(({ owned }) => owned === 0)) return []
  db.exec('CREATE INDEX features_feature_id ON features (feature_id) WHERE feature_id IS NOT NULL')
  db.exec('CREATE TEMP TABLE given (fid INTEGER PRIMARY KEY, row TEXT)')
  const isMixed = owners.some(({ owned, count }) => owned < count)
  if (isMixed) {
    const insert = db.prepare(
      'INSERT INTO given SELECT fid, fid - ?1 + 1 FROM features WHERE feature_id IS NULL AND fid >= ?1 AND fid < ?1 + ?2',
    )
    for (const { first, count } of owners) insert.run(first, count)
  }
  db.exec(
    `CREATE TEMP TABLE repeated AS SELECT ${ADDRESS} AS id FROM features WHERE feature_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1`,
  )
  const repeated = db.prepare(
    `INSERT OR IGNORE INTO given SELECT fid, CASE WHEN ?3 THEN ${ADDRESS} ELSE fid - ?1 + 1 END FROM features
     WHERE fid >= ?1 AND fid < ?1 + ?2 AND ${ADDRESS} IN (SELECT id FROM repeated)`,
  )
  const { n } = db.prepare('SELECT count(*) AS n FROM repeated').get() as { n: number }
  if (n > 0) for (const { first, count, isKey } of owners) repeated.run(first, count, isKey ? 1 : 0)
  db.exec(
    "UPDATE features SET feature_id = layer || '.' || (SELECT row FROM given WHERE given.fid = features.fid) WHERE fid IN (SELECT fid FROM given)",
  )
  // A feature may have such an id in the source.
  const clashing = `fid IN (SELECT fid FROM given) AND ${ADDRESS} IN (SELECT ${ADDRESS} FROM features WHERE feature_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1)`
  const lengthen = db.prepare(`UPDATE features SET feature_id = feature_id || '_' || fid WHERE ${clashing}`)
  const given = (db.prepare('SELECT fid FROM given ORDER BY fid').all() as { fid: number }[]).map(({ fid }) => fid)
  if (given.length > 0) while (Number(lengthen.run().changes) > 0) {}
  db.exec('DROP TABLE given; DROP TABLE repeated')
  return given
}
