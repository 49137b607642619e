import type { Queryable } from './connect.js'

export interface InstanceKeys {
  /** id of this installation on a Redis that it may share with others */
  readonly instanceId: string
  /** secret that proves to the control plane that a request comes through an edge of this installation */
  readonly edgeLink: string
}

export async function readInstanceKeys(sql: Queryable): Promise<InstanceKeys> {
  const rows = await sql<{ name: string; value: string }[]>`SELECT name, value FROM instance_keys`
  const value = (name: string): string => {
    const row = rows.find((r) => r.name === name)
    if (row === undefined) throw new Error(`the store has no instance key ${name}`)
    return row.value
  }
  return { instanceId: value('instance_id'), edgeLink: value('edge_link') }
}
