/**
 * React as the bundle has it: Preact's compatible build, which is a fifth of the size. The component library names one more export, for parts
 * that stay mounted while they are hidden.
 */
import * as compat from 'preact/compat'

export * from 'preact/compat'

/** Hidden children are not drawn. */
export function Activity({ mode, children }) {
  return mode === 'hidden' ? null : compat.createElement(compat.Fragment, null, children)
}

export default { ...compat, Activity }
