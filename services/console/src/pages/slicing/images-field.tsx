import { ActionIcon, Button, Code, Group, Input, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import IconFolderOpen from '~icons/folder-open'
import IconX from '~icons/x'
import { useTexts } from '../../texts/texts.js'
import { FilePicker } from './file-picker.js'
import { parentOf } from './paths.js'

interface ImagesFieldProps {
  /** the initial directory of the picker */
  readonly start: string | null
  readonly value?: readonly string[]
  readonly onChange?: (paths: readonly string[]) => void
  readonly error?: ReactNode
}

/** The images of a job in order, picked on the server or typed. */
export function ImagesField({ start, value = [], onChange, error }: ImagesFieldProps) {
  const t = useTexts()
  const [opened, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  const add = (paths: readonly string[]) => onChange?.([...value, ...paths.filter((path) => !value.includes(path))])
  const addTyped = () => {
    const path = typed.trim()
    setWrong(!path.startsWith('/'))
    if (!path.startsWith('/')) return
    add([path])
    setTyped('')
  }
  return (
    <Stack gap="sm" maw={760}>
      {value.length === 0 ? (
        <Text c="dimmed">{t.slicing.sourcesNeeded}</Text>
      ) : (
        <ol className="images">
          {value.map((path) => (
            <li key={path}>
              <Code className="wrap">{path}</Code>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t.slicing.remove(path)}
                onClick={() => onChange?.(value.filter((one) => one !== path))}
              >
                <IconX size={16} />
              </ActionIcon>
            </li>
          ))}
        </ol>
      )}
      {error && <Input.Error role="alert">{error}</Input.Error>}
      <Group align="flex-end" gap="sm">
        <Button variant="light" leftSection={<IconFolderOpen size={17} />} onClick={open}>
          {t.slicing.pick}
        </Button>
        <TextInput
          aria-label={t.slicing.addPath}
          placeholder="/data/images/north.tif"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            addTyped()
          }}
          error={wrong && t.slicing.pathWrong}
          flex={1}
          miw={220}
          autoComplete="off"
          spellCheck={false}
        />
        <Button variant="default" disabled={typed.trim() === ''} onClick={addTyped}>
          {t.slicing.addPath}
        </Button>
      </Group>
      <FilePicker
        opened={opened}
        start={parentOf(value.at(-1)) ?? start}
        onClose={close}
        onTake={(paths) => {
          add(paths)
          close()
        }}
      />
    </Stack>
  )
}
