/**
 * Returns a function whose calls return the results for the items in their order. Up to `atOnce` items are read at the same time, including items
 * that no call has requested yet. A failure rejects the call for its item.
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
    // Possibly no call ever requests this item.
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
