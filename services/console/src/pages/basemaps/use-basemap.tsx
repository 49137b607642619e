import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { basemapsQuery } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Missing } from '../../ui/missing.js'

/** A basemap by the code in the address, or words that it does not exist. */
export function WithBasemap({ code, children }: { code: string; children: (basemap: AdminBasemap) => ReactNode }) {
  const t = useTexts()
  const query = useQuery(basemapsQuery)
  return (
    <Loaded query={query} what={t.basemaps.what}>
      {({ items }) => {
        const basemap = items.find((one) => one.code === code)
        if (basemap !== undefined) return children(basemap)
        return (
          <Missing title={t.basemaps.noSuch(code)} back={{ label: t.basemaps.title, to: '/basemaps' }}>
            {t.basemaps.noSuchAdvice}
          </Missing>
        )
      }}
    </Loaded>
  )
}
