/**
 * Answers a function whose calls return the results for the items in their order. So many are read at the same time as `atOnce` says, those that were
 * not asked for yet included. A failure rejects the call for its item.
 */
export function readAhead<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  read: (item: Item) => Promise<Result>,
): () => Promise<Result> {
  const begun: Promise<Result>[] = []
  let next = 0
  const begin = (): void => {
    const reading = read(items[next++] as Item)
    // It may never be asked for.
    reading.catch(() => {})
    begun.push(reading)
  }
  return () => {
    while (next < items.length && begun.length < atOnce) begin()
    const first = begun.shift()
    if (first === undefined) throw new RangeError('all items have been read')
    return first
  }
}
