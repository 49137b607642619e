import { ActionIcon, Button, Checkbox, Divider, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import IconDownload from '~icons/download'
import IconLink from '~icons/link'
import IconX from '~icons/x'
import { readAll } from '../api/list.js'
import { Link } from '../router/components.js'
import { useTexts } from '../texts/texts.js'
import { copyText } from './copy-text.js'
import { csvOf, saveText } from './csv.js'
import { notifyDone, notifyFailed, notifyInfo } from './notify.js'
import { OptionsButton } from './options-button.js'
import { shortText } from './shown-text.js'
import type { ListOptionsProps } from './use-hidden-columns.js'

/** The button of a list's options, with its menu. */
export default function ListOptionsPanel({ source, query, columns }: ListOptionsProps<unknown>) {
  const t = useTexts().work.list
  const [opened, { toggle, close }] = useDisclosure(true)
  return (
    <Popover opened={opened} onChange={close} position="bottom-end" withinPortal shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <OptionsButton onClick={toggle} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t.options}>
        <Stack gap="sm" maw={280}>
          <SaveFile source={source} query={query} />
          <Divider label={t.columns} />
          <Stack gap={6}>
            {columns.optional.map(({ id, header }) => (
              <Checkbox
                key={id}
                size="xs"
                label={header}
                checked={!columns.isHidden(id)}
                onChange={() => columns.toggle(id)}
              />
            ))}
          </Stack>
          <Divider label={t.views} />
          <Views list={source.key} onChosen={close} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Limit: rows of a file. */
const MAX_ROWS = 10_000

function SaveFile({ source, query }: Pick<ListOptionsProps<unknown>, 'source' | 'query'>) {
  const t = useTexts().work.list
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      const { items, total } = await readAll(source, query as never, MAX_ROWS)
      saveText(`${source.key}.csv`, 'text/csv', csvOf(items as readonly object[]))
      if (total > items.length) notifyInfo(t.csvDone(items.length), t.csvCut(items.length))
      else notifyDone(t.csvDone(items.length))
    } catch (error) {
      notifyFailed(t.csvFailed, error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={busy}
      onClick={() => void save()}
      leftSection={<IconDownload size={16} />}
    >
      {t.csv}
    </Button>
  )
}

interface View {
  readonly name: string
  /** of the URL, without the page */
  readonly search: string
}

function Views({ list, onChosen }: { list: string; onChosen: () => void }) {
  const t = useTexts()
  const { list: words } = t.work
  const [views, setViews] = useLocalStorage<readonly View[]>({ key: `list.${list}.views`, defaultValue: [] })
  const [name, setName] = useState('')
  const save = () => {
    const search = new URLSearchParams(window.location.search)
    search.delete('page')
    setViews([...views.filter((view) => view.name !== name.trim()), { name: name.trim(), search: search.toString() }])
    setName('')
  }
  const address = (search: string) => `${window.location.pathname.replace(/^\/admin/, '')}?${search}`
  return (
    <Stack gap={6}>
      {views.length === 0 && (
        <Text size="xs" c="dimmed">
          {words.noViews}
        </Text>
      )}
      {views.map((view) => (
        <Group key={view.name} gap={4} wrap="nowrap">
          <Button
            component={Link}
            to={address(view.search)}
            onClick={onChosen}
            variant="subtle"
            size="compact-sm"
            justify="flex-start"
            flex={1}
            miw={0}
          >
            {shortText(view.name)}
          </Button>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`${words.copyView}: ${view.name}`}
            onClick={() => void copyText(`${window.location.origin}/admin${address(view.search)}`)}
          >
            <IconLink size={14} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={words.removeView(view.name)}
            onClick={() => setViews(views.filter((one) => one !== view))}
          >
            <IconX size={14} />
          </ActionIcon>
        </Group>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '') save()
        }}
      >
        <Group gap={4} wrap="nowrap">
          <TextInput
            size="xs"
            aria-label={words.viewName}
            placeholder={words.viewName}
            value={name}
            maxLength={60}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button size="xs" variant="default" type="submit" disabled={name.trim() === ''}>
            {words.save}
          </Button>
        </Group>
      </form>
    </Stack>
  )
}
