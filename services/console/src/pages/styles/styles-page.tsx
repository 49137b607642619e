import type { AdminStyle } from '@gateway/contracts/style.js'
import { useQueryClient } from '@tanstack/react-query'
import IconFolderPlus from '~icons/folder-plus'
import IconMapOff from '~icons/map-off'
import IconPalette from '~icons/palette'
import { segment } from '../../api/client.js'
import { fetchPreviewToken } from '../../api/preview.js'
import { drawnPicture, STYLES, styleDocumentQuery } from '../../api/styles.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, availabilityColumn, type Column, nameColumn, sourceColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { ServerListPage } from '../../ui/server-table.js'
import { Status } from '../../ui/status.js'
import { Thumbnail } from '../../ui/thumbnail.js'
import { useCatalogFilters } from '../../ui/use-catalog-filters.js'
import { isServed } from '../../ui/withdrawn.js'
import { ImportButton } from './import-button.js'

export function Page() {
  const t = useTexts()
  return (
    <ServerListPage
      texts={t.styles}
      icon={IconPalette}
      actions={
        <>
          <ButtonLink to="/styles/compare" variant="default">
            {t.styles.compare}
          </ButtonLink>
          <ImportButton />
        </>
      }
      first={
        <ButtonLink to="/sources/new?kind=style" needs="admin" icon={IconFolderPlus}>
          {t.sources.add}
        </ButtonLink>
      }
      source={STYLES}
      filters={useCatalogFilters()}
      columns={useColumns()}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<AdminStyle>[] {
  const t = useTexts()
  const name = nameColumn<AdminStyle>(t, (code) => `/styles/${segment(code)}`)
  return [
    {
      ...name,
      cell: (style) => (
        <div className="with-thumbnail">
          <StyleThumbnail style={style} />
          <div className="named">{name.cell?.(style)}</div>
        </div>
      ),
    },
    {
      id: 'revision',
      header: t.styles.revision,
      sort: 'revision',
      numeric: true,
      value: ({ revision }) => revision,
    },
    {
      id: 'sources',
      header: t.styles.sources,
      value: ({ sources }) => [...new Set(sources.map(({ code }) => code))].join(', '),
    },
    {
      id: 'problems',
      header: t.styles.state,
      value: ({ problems }) => problems.length,
      cell: ({ problems }) =>
        problems.length === 0 ? (
          <Status tone="good">{t.styles.ready}</Status>
        ) : (
          <Status tone="warning">{t.styles.problems(problems.length)}</Status>
        ),
    },
    availabilityColumn(t),
    sourceColumn(t),
    agoColumn('updated', t.common.updated, ({ updated_at: at }) => at, { sort: 'updated_at' }),
  ]
}

/** A small map of the style at its initial camera. */
function StyleThumbnail({ style }: { style: AdminStyle }) {
  const queries = useQueryClient()
  const { code, revision } = style
  const read = async (signal: AbortSignal) => {
    const shown = await queries.fetchQuery(styleDocumentQuery(code, null))
    const { token } = await fetchPreviewToken({ style_code: code }, signal)
    const { center = [0, 0], zoom = 0 } = shown.document as { center?: readonly number[]; zoom?: number }
    const drawn = await drawnPicture({ code, view: `${center.join()},${zoom}` }, token, signal)
    // A host without Chromium leaves it to this browser.
    return drawn ?? (await import('../../map/style-picture.js')).drawStyle(shown, token)
  }
  const isShown = style.available && isServed(style)
  return (
    <Thumbnail id={['style', code, revision]} read={isShown ? read : null} icon={isShown ? IconPalette : IconMapOff} />
  )
}
