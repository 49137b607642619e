const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** True if a path parameter can be an identifier. For any other text the store would raise an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
