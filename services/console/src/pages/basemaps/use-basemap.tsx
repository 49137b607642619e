import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { basemapQuery } from '../../api/catalog.js'
import { dashboardQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { useFirstPageDrawn } from '../../ui/first-page.js'
import { Loaded } from '../../ui/loaded.js'
import { shortText } from '../../ui/shown-text.js'

/** Loads the basemap by the code in the URL, or says that it does not exist. */
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

/** True if a layer was sliced here, so that its files may be deleted together with its record. */
export function useIsSliced(code: string): boolean {
  // Needed only in a menu.
  const isDrawn = useFirstPageDrawn()
  return useQuery({ ...dashboardQuery, enabled: isDrawn }).data?.layers.some((layer) => layer.code === code) ?? false
}
