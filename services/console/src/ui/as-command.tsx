import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import IconTerminal2 from '~icons/terminal-2'
import { type Call, curlOf } from '../api/client.js'
import { useTexts } from '../texts/texts.js'
import { CopyBlock } from './copy.js'

interface AsCommandProps {
  /** the request that would be sent now */
  readonly command: () => Call
  /** a description of the action, unless the context makes it clear */
  readonly action?: string
}

/** Shows on demand the shell command that makes the same change. */
export function AsCommand({ command, action }: AsCommandProps) {
  const t = useTexts().common
  const [opened, { toggle }] = useDisclosure()
  return (
    <Stack gap="xs">
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconTerminal2 size={16} />}
        aria-expanded={opened}
        onClick={toggle}
        w="fit-content"
      >
        {action === undefined ? t.asCommand : t.thatAsCommand(action)}
      </Button>
      {opened && (
        <>
          <CopyBlock text={curlOf(command())} what={t.asCommand} />
          <Text size="sm" c="dimmed">
            {t.commandHint}
          </Text>
        </>
      )}
    </Stack>
  )
}
