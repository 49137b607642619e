import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type BulkResult, useBulk } from '../api/bulk.js'
import { ApiError } from '../api/client.js'
import { useTexts } from '../texts/texts.js'
import type { Bulk, BulkAction, Params } from './bulk.js'
import { Confirm } from './confirm.js'
import Modal from './modal.js'
import { Name } from './name.js'
import { ErrorText } from './server-text.js'
import { shortText } from './shown-text.js'
import type { Selection } from './use-selection.js'

interface BulkDialogProps {
  readonly bulk: Bulk<unknown>
  readonly selection: Selection<unknown>
  readonly action: BulkAction
  readonly onClose: () => void
}

/** One confirmation for all items, and then the outcome of each. */
export default function BulkDialog({ bulk, selection, action, onClose }: BulkDialogProps) {
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
      {...(action.keep !== undefined && { cancel: action.keep })}
    >
      <Text>{t.words(selection.count)}</Text>
      {action.effects !== undefined && <Text>{action.effects}</Text>}
      {action.Fields !== undefined && (
        <action.Fields onChange={setParams} selection={selection as unknown as Selection<never>} />
      )}
      {tried && params === null && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {action.needed ?? t.pickOne}
        </Text>
      )}
    </Confirm>
  )
}

function named(bulk: Bulk<unknown>, selection: Selection<unknown>, id: string): string {
  const row = selection.rowOf(id)
  return row === undefined ? id : bulk.nameOf(row)
}

/** Limit: rows that are named; of thousands that fail, the reasons are few. */
const NAMED = 20

interface ResultsProps {
  readonly result: BulkResult
  readonly action: BulkAction
  readonly nameOf: (id: string) => string
  readonly onClose: () => void
}

function Results({ result: { matched, done, failed, confirmed, pending }, action, nameOf, onClose }: ResultsProps) {
  const texts = useTexts()
  const t = texts.work.bulk
  return (
    <Modal opened onClose={onClose} title={t.title(action.label, matched)}>
      <Stack>
        <Alert color={failed.length === 0 ? 'teal' : 'orange'} role="status">
          {t.done(done, matched)}
        </Alert>
        {confirmed !== undefined && pending !== undefined && (
          <Text>{texts.withdraw.confirmedBy(confirmed.length, confirmed.length + pending.length)}</Text>
        )}
        {failed.length > 0 && (
          <>
            <Text fw={550}>{t.notDone(failed.length)}</Text>
            <List size="sm" spacing="xs">
              {failed.slice(0, NAMED).map(({ id, error, details = [] }) => (
                <List.Item key={id}>
                  <Name>{shortText(nameOf(id))}</Name>:{' '}
                  <bdi>
                    <ErrorText
                      error={new ApiError(0, error, { said: details.map(({ code, params }) => [code, params]) })}
                    />
                  </bdi>
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
