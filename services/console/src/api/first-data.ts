/** The data that the service has put into the page, by path; see `first-data.ts` of the control plane. */
const given = read()

function read(): Map<string, unknown> {
  // Tests without a page import this module too.
  const text = globalThis.document?.getElementById('first-data')?.textContent
  return new Map(text == null ? [] : Object.entries(JSON.parse(text) as object))
}

/** Returns the response that came with the page, once. Later reads are requests. undefined: the page has no response for `path`. */
export function takeFirst(path: string): unknown {
  const answer = given.get(path)
  given.delete(path)
  return answer
}
