import { lazy, Suspense, useState } from 'react'
import { OptionsButton } from './options-button.js'
import type { ListOptionsProps } from './use-hidden-columns.js'

/** Not in the first file: fields and what places them. */
const OpenListOptions = lazy(() => import('./list-options-panel.js'))

/** The options of a list as a whole: its export to a file, its columns, and its saved views. */
export function ListOptions<T>(props: ListOptionsProps<T>) {
  const [asked, setAsked] = useState(false)
  const button = <OptionsButton onClick={() => setAsked(true)} />
  if (!asked) return button
  return (
    <Suspense fallback={button}>
      <OpenListOptions {...(props as unknown as ListOptionsProps<unknown>)} />
    </Suspense>
  )
}
