/**
 * Few combinations in which every two values of different dimensions meet at least once, as far as `allowed` lets them. Greedy and
 * without chance: the same input gives the same rows.
 */
export function pairwise<T extends Record<string, readonly unknown[]>>(
  dimensions: T,
  allowed: (row: { [K in keyof T]: T[K][number] }) => boolean,
): { [K in keyof T]: T[K][number] }[] {
  type Row = { [K in keyof T]: T[K][number] }
  let rows: Row[] = [{} as Row]
  for (const [name, values] of Object.entries(dimensions)) {
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })))
  }
  rows = rows.filter(allowed)
  const pairsOf = (row: Row) => {
    const parts = Object.entries(row).map(([name, value]) => `${name}=${value}`)
    return parts.flatMap((part, index) => parts.slice(index + 1).map((other) => `${part} ${other}`))
  }
  const open = new Set(rows.flatMap(pairsOf))
  const chosen: Row[] = []
  while (open.size > 0) {
    const gain = (row: Row) => pairsOf(row).filter((pair) => open.has(pair)).length
    const best = rows.reduce((a, b) => (gain(b) > gain(a) ? b : a))
    for (const pair of pairsOf(best)) open.delete(pair)
    chosen.push(best)
  }
  return chosen
}
