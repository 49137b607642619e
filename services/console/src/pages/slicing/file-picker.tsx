import type { SliceFile } from '@gateway/contracts/slice.js'
import { Button, Checkbox, Group, Modal, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCornerLeftUp, IconFolder } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sliceFilesQuery } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { useFormats } from '../../ui/use-formats.js'

interface FilePickerProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onTake: (paths: readonly string[]) => void
}

/** Images on the server, inside the directories that are allowed. */
export function FilePicker({ opened, onClose, onTake }: FilePickerProps) {
  const t = useTexts()
  return (
    <Modal opened={opened} onClose={onClose} title={t.slicing.files.title} size="lg">
      <Browser onTake={onTake} />
    </Modal>
  )
}

function Browser({ onTake }: Pick<FilePickerProps, 'onTake'>) {
  const t = useTexts().slicing.files
  // The way in is the way out: above what is allowed there is nothing.
  const [way, setWay] = useState<readonly string[]>([])
  const dir = way.at(-1) ?? null
  const [chosen, setChosen] = useState<readonly string[]>([])
  const query = useQuery(sliceFilesQuery(dir))
  return (
    <Stack>
      <Loaded query={query} what={t.what}>
        {({ items }) => (
          <Entries
            dir={dir}
            items={items}
            chosen={chosen}
            onChoose={setChosen}
            onOpen={(path) => setWay([...way, path])}
            onUp={() => setWay(way.slice(0, -1))}
          />
        )}
      </Loaded>
      <Group justify="flex-end">
        <Button disabled={chosen.length === 0} onClick={() => onTake(chosen)}>
          {t.take(chosen.length)}
        </Button>
      </Group>
    </Stack>
  )
}

interface EntriesProps {
  readonly dir: string | null
  readonly items: readonly SliceFile[]
  readonly chosen: readonly string[]
  readonly onChoose: (paths: readonly string[]) => void
  readonly onOpen: (dir: string) => void
  readonly onUp: () => void
}

function Entries({ dir, items, chosen, onChoose, onOpen, onUp }: EntriesProps) {
  const t = useTexts().slicing.files
  const formats = useFormats()
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed" aria-live="polite">
        {t.where}: <span className="mono">{dir ?? t.roots}</span>
      </Text>
      {dir !== null && (
        <UnstyledButton className="file" onClick={onUp}>
          <IconCornerLeftUp size={18} aria-hidden /> {t.up}
        </UnstyledButton>
      )}
      {items.length === 0 && <Text c="dimmed">{t.empty}</Text>}
      {items.map(({ name, path, kind, size }) =>
        kind === 'directory' ? (
          <UnstyledButton key={path} className="file" onClick={() => onOpen(path)}>
            <IconFolder size={18} aria-hidden /> {name}
          </UnstyledButton>
        ) : (
          <Checkbox
            key={path}
            className="file"
            label={name}
            description={formats.bytes(size)}
            checked={chosen.includes(path)}
            onChange={(event) =>
              onChoose(event.currentTarget.checked ? [...chosen, path] : chosen.filter((one) => one !== path))
            }
          />
        ),
      )}
    </Stack>
  )
}
