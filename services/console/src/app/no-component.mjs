/** In place of a part of the component library that no page uses. The aliases of the bundler's configuration name it. */
export function TableScrollContainer() {
  return null
}
