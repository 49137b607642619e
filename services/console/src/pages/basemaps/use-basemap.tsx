import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { basemapQuery } from '../../api/catalog.js'
import { dashboardQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { shortText } from '../../ui/shown-text.js'

/** A basemap by the code in the address, or that it does not exist. */
export function WithBasemap({ code, children }: { code: string; children: (basemap: AdminBasemap) => ReactNode }) {
  const t = useTexts().basemaps
  return (
    <Loaded
      query={useQuery(basemapQuery(code))}
      what={t.what}
      missing={{ title: t.noSuch(shortText(code)), back: { label: t.title, to: '/basemaps' } }}
    >
      {children}
    </Loaded>
  )
}

/** Whether a layer was sliced here, so that its files may be deleted with its record. */
export function useIsSliced(code: string): boolean {
  return useQuery(dashboardQuery).data?.layers.some((layer) => layer.code === code) ?? false
}
