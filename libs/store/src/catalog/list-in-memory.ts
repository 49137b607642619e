import type { Listed, ListRequest } from '@gateway/store/listing.js'

type Value = string | number | boolean | null

/** The fields by which a list in memory can be searched, filtered and sorted. */
export interface MemoryListing<Item, Filter extends string = string> {
  /** named by the words of the API description */
  readonly searched: Readonly<Record<string, (item: Item) => string>>
  readonly sortable: Readonly<Record<string, (item: Item) => Value>>
  /** default order of the items, in the form of the `sort` parameter */
  readonly order: string
  readonly filters: Readonly<Record<Filter, (item: Item) => Value>>
}

/** Does the same as the store's `readList` for items in memory, which come in the listing's default order. */
export function pageOf<Item>(
  items: readonly Item[],
  { searched, sortable, order, filters }: MemoryListing<Item>,
  request: ListRequest,
): Listed<Item> {
  const { q = '', sort = order, limit, offset = 0 } = request
  const wanted = q.toLowerCase()
  const set = Object.entries(filters).filter(([name]) => request[name] !== undefined)
  const matching = items
    .filter((item) => set.every(([name, read]) => read(item) === request[name]))
    .filter((item) => wanted === '' || Object.values(searched).some((of) => of(item).toLowerCase().includes(wanted)))
  if (sort !== order) sortBy(matching, sortable, sort)
  else if (wanted !== '') {
    const isExact = (item: Item) => Object.values(searched).some((of) => of(item).toLowerCase() === wanted)
    matching.sort((one, other) => Number(isExact(other)) - Number(isExact(one)))
  }
  return { items: matching.slice(offset, limit === undefined ? undefined : offset + limit), total: matching.length }
}

/** Items without a value come last in both directions. Equal items keep their order. */
function sortBy<Item>(items: Item[], sortable: MemoryListing<Item>['sortable'], sort: string): void {
  const descending = sort.startsWith('-')
  const read = sortable[descending ? sort.slice(1) : sort]
  if (read === undefined) throw new RangeError(`no field to sort by: ${sort}`)
  const direction = descending ? -1 : 1
  items.sort((one, other) => {
    const [a, b] = [read(one), read(other)]
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
    if (typeof a === 'string' && typeof b === 'string') {
      return direction * (a < b ? -1 : a > b ? 1 : 0)
    }
    return direction * (Number(a) - Number(b))
  })
}
