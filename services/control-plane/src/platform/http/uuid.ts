const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a path parameter can be an identifier at all: the store would refuse another text as an error of its own. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
