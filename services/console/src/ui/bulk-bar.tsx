import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../texts/texts.js'
import type { Bulk, BulkAction } from './bulk.js'
import { part } from './part.js'
import type { Selection } from './use-selection.js'
import { WriteButton } from './write-button.js'

/** Loaded on demand, because the dialog is rarely opened. */
const BulkDialog = part(async () => (await import('./bulk-dialog.js')).default)

interface BulkBarProps<T> {
  readonly bulk: Bulk<T>
  readonly selection: Selection<T>
  readonly total: number
}

/** Shows the number of selected rows and the actions for them. */
export function BulkBar<T>({ bulk, selection, total }: BulkBarProps<T>) {
  const t = useTexts().work.bulk
  const [asked, setAsked] = useState<BulkAction | null>(null)
  return (
    <>
      {selection.isSome && (
        <Group className="bulk-bar" gap="xs" role="region" aria-label={t.selected(selection.count)}>
          <Text fw={550} role="status">
            {t.selected(selection.count)}
          </Text>
          {!selection.all && total > selection.count && (
            <Button size="compact-sm" variant="subtle" onClick={selection.selectAll}>
              {t.selectAll(total)}
            </Button>
          )}
          {bulk.actions.map((action) => (
            <WriteButton
              key={action.action}
              needs={action.needs}
              size="compact-sm"
              variant="light"
              {...(action.danger && { color: 'red', className: 'danger' })}
              onClick={() => setAsked(action)}
            >
              {action.label}
            </WriteButton>
          ))}
          <Button size="compact-sm" variant="subtle" color="gray" onClick={selection.clear}>
            {t.clear}
          </Button>
        </Group>
      )}
      {asked !== null && (
        <BulkDialog
          bulk={bulk as Bulk<unknown>}
          selection={selection as Selection<unknown>}
          action={asked}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}
