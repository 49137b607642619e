import type { SliceFile } from '@gateway/contracts/slice.js'
import { Button, Checkbox, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import IconCornerLeftUp from '~icons/corner-left-up'
import IconFolder from '~icons/folder'
import IconSearch from '~icons/search'
import { sliceFilesQuery } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import Modal from '../../ui/modal.js'
import { Problem } from '../../ui/problem.js'
import { shownText } from '../../ui/shown-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { directoryAbove } from './paths.js'

interface FilePickerProps {
  readonly opened: boolean
  /** the initial directory; null: the list of allowed directories */
  readonly start: string | null
  readonly onClose: () => void
  readonly onTake: (paths: readonly string[]) => void
}

/** Selects images on the server, only inside the allowed directories. */
export function FilePicker({ opened, onClose, ...browser }: FilePickerProps) {
  const t = useTexts()
  return (
    <Modal opened={opened} onClose={onClose} title={t.slicing.files.title} size="lg">
      <FileBrowser {...browser} />
    </Modal>
  )
}

export function FileBrowser({ start, onTake }: Pick<FilePickerProps, 'start' | 'onTake'>) {
  const t = useTexts().slicing.files
  const [dir, setDir] = useState(start)
  const [path, setPath] = useState(start ?? '')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const roots = useQuery(sliceFilesQuery(null)).data?.items.map((root) => root.path) ?? []
  const { data, error, refetch } = useQuery(sliceFilesQuery(dir))
  const open = (next: string | null) => {
    setDir(next)
    setPath(next ?? '')
  }
  const only = start === null && roots.length === 1 ? roots[0] : undefined
  // A list of one directory is a step without a choice.
  // biome-ignore lint/correctness/useExhaustiveDependencies: opened once, so that the list can be returned to
  useEffect(() => {
    if (only !== undefined) open(only)
  }, [only])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The form around the picker must not handle this event.
    event.stopPropagation()
    open(path.trim() === '' ? null : path.trim())
  }
  return (
    <Stack>
      <form onSubmit={submit}>
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label={t.where}
            placeholder={t.roots}
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            flex={1}
          />
          <Button type="submit" variant="default">
            {t.open}
          </Button>
        </Group>
      </form>
      {dir !== null && (
        <UnstyledButton className="file" onClick={() => open(directoryAbove(dir, roots))}>
          <IconCornerLeftUp size={18} /> {t.up}
        </UnstyledButton>
      )}
      {error !== null && <Problem title={t.failed} error={error} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <Entries key={dir} items={data.items} chosen={chosen} onChoose={setChosen} onOpen={open} />
      )}
      <Group justify="flex-end">
        <Button disabled={chosen.length === 0} onClick={() => onTake(chosen)}>
          {t.take(chosen.length)}
        </Button>
      </Group>
    </Stack>
  )
}

interface EntriesProps {
  readonly items: readonly SliceFile[]
  readonly chosen: readonly string[]
  readonly onChoose: (paths: readonly string[]) => void
  readonly onOpen: (dir: string) => void
}

/** Number of files from which the filter is shown. */
const FILTERED_FROM = 10
const MAX_SHOWN = 200

function Entries({ items, chosen, onChoose, onOpen }: EntriesProps) {
  const t = useTexts().slicing.files
  const formats = useFormats()
  const [filter, setFilter] = useState('')
  const found = items.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()))
  const images = found.filter(({ kind }) => kind === 'file').map(({ path }) => path)
  const taken = images.filter((path) => chosen.includes(path)).length
  const choose = (paths: readonly string[], on: boolean) => {
    const others = chosen.filter((path) => !paths.includes(path))
    onChoose(on ? [...others, ...paths] : others)
  }
  return (
    <Stack gap={2}>
      {items.length >= FILTERED_FROM && (
        <TextInput
          type="search"
          aria-label={t.filter}
          placeholder={t.filter}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          leftSection={<IconSearch size={16} />}
        />
      )}
      {images.length > 1 && (
        <Checkbox
          className="file"
          label={t.all(images.length)}
          checked={taken === images.length}
          indeterminate={taken > 0 && taken < images.length}
          onChange={() => choose(images, taken < images.length)}
        />
      )}
      {found.length === 0 && <Text c="dimmed">{t.empty}</Text>}
      {found.slice(0, MAX_SHOWN).map(({ name, path, kind, size }) =>
        kind === 'directory' ? (
          <UnstyledButton key={path} className="file" onClick={() => onOpen(path)}>
            <IconFolder size={18} /> <bdi className="wrap">{shownText(name)}</bdi>
          </UnstyledButton>
        ) : (
          <Checkbox
            key={path}
            className="file"
            label={<bdi className="wrap">{shownText(name)}</bdi>}
            description={formats.bytes(size)}
            checked={chosen.includes(path)}
            onChange={(event) => choose([path], event.currentTarget.checked)}
          />
        ),
      )}
      {found.length > MAX_SHOWN && (
        <Text size="sm" c="dimmed">
          {t.cut(MAX_SHOWN, found.length)}
        </Text>
      )}
    </Stack>
  )
}
