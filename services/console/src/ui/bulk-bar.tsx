import type { Role } from '@gateway/contracts/operator.js'
import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type BulkList, type BulkResult, useBulk } from '../api/bulk.js'
import { useTexts } from '../texts/texts.js'
import { Confirm } from './confirm.js'
import { Name } from './name.js'
import { shortText } from './shown-text.js'
import type { Selection } from './use-selection.js'
import { WriteButton } from './write-button.js'

type Params = Readonly<Record<string, unknown>>

/** An action on the selected rows of a list. */
export interface BulkAction {
  /** the API's name of the action */
  readonly action: string
  readonly label: string
  readonly needs: Role
  /** true if the action removes something */
  readonly danger?: boolean
  /** asks for the action's parameters; `null`: they are incomplete */
  readonly Fields?: (props: { readonly onChange: (params: Params | null) => void }) => React.ReactNode
}

export interface Bulk<T> {
  readonly list: BulkList
  /** first parts of the keys of queries that show the changed data */
  readonly changes: readonly string[]
  readonly actions: readonly BulkAction[]
  readonly nameOf: (row: T) => string
}

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
      {asked !== null && <BulkDialog bulk={bulk} selection={selection} action={asked} onClose={() => setAsked(null)} />}
    </>
  )
}

interface BulkDialogProps<T> extends Omit<BulkBarProps<T>, 'total'> {
  readonly action: BulkAction
  readonly onClose: () => void
}

/** Confirms an action for all selected rows, and then shows the result for each row. */
function BulkDialog<T>({ bulk, selection, action, onClose }: BulkDialogProps<T>) {
  const t = useTexts().work.bulk
  const [params, setParams] = useState<Params | null>(action.Fields === undefined ? {} : null)
  const [tried, setTried] = useState(false)
  const write = useBulk(bulk.list, bulk.changes)
  const body = {
    ...selection.choice,
    action: action.action,
    ...(action.Fields !== undefined && { params: params ?? {} }),
  }
  if (write.data !== undefined) {
    const close = () => {
      selection.clear()
      onClose()
    }
    return <Results result={write.data} action={action} nameOf={(id) => named(bulk, selection, id)} onClose={close} />
  }
  return (
    <Confirm
      opened
      title={t.title(action.label, selection.count)}
      action={action.label}
      write={write}
      command={write.commandOf(body)}
      onConfirm={() => (params === null ? setTried(true) : write.mutate(body))}
      onClose={onClose}
      failed={t.failed}
      {...(action.danger && { danger: true })}
    >
      <Text>{t.words(selection.count)}</Text>
      {action.Fields !== undefined && <action.Fields onChange={setParams} />}
      {tried && params === null && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {t.pickOne}
        </Text>
      )}
    </Confirm>
  )
}

function named<T>(bulk: Bulk<T>, selection: Selection<T>, id: string): string {
  const row = selection.rowOf(id)
  return row === undefined ? id : bulk.nameOf(row)
}

/** Maximum number of failed rows that are named; thousands of failures usually have few reasons. */
const NAMED = 20

interface ResultsProps {
  readonly result: BulkResult
  readonly action: BulkAction
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
}

function Results({ result: { matched, done, failed }, action, nameOf, onClose }: ResultsProps) {
  const texts = useTexts()
  const t = texts.work.bulk
  return (
    <Modal opened onClose={onClose} title={t.title(action.label, matched)}>
      <Stack>
        <Alert color={failed.length === 0 ? 'teal' : 'orange'} role="status">
          {t.done(done, matched)}
        </Alert>
        {failed.length > 0 && (
          <>
            <Text fw={550}>{t.notDone(failed.length)}</Text>
            <List size="sm" spacing="xs">
              {failed.slice(0, NAMED).map(({ id, error }) => (
                <List.Item key={id}>
                  <Name>{shortText(nameOf(id))}</Name>: <bdi>{error}</bdi>
                </List.Item>
              ))}
            </List>
            {failed.length > NAMED && <Text size="sm">{t.more(failed.length - NAMED)}</Text>}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.common.close}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
