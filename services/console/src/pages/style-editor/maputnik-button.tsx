import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import IconExternalLink from '~icons/external-link'
import { previewTokenQuery } from '../../api/preview.js'
import { useTexts } from '../../texts/texts.js'
import { CopyBlock } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { Problem } from '../../ui/problem.js'
import { useEditorTexts } from './use-editor-texts.js'

/** The public installation of the editor. Its query names the style to open. */
const MAPUTNIK = 'https://maplibre.org/maputnik/?style='

/** Opens the saved style in Maputnik. Its address needs a token, which reads only this style and soon expires. */
export function MaputnikButton({ code, address }: { readonly code: string; readonly address: string }) {
  const t = useTexts()
  const e = useEditorTexts()
  const [opened, { open, close }] = useDisclosure()
  const { data, error } = useQuery({ ...previewTokenQuery({ style_code: code }), enabled: opened })
  const withToken = data === undefined ? null : `${address}?token=${data.token}`
  return (
    <>
      <Button variant="default" leftSection={<IconExternalLink size={16} />} onClick={open}>
        Maputnik
      </Button>
      <Dialog opened={opened} onClose={close} title={e.maputnikTitle} size="lg">
        <Stack>
          <Text>{e.maputnikWords}</Text>
          {isRefused(address) && <Text>{e.maputnikRefused}</Text>}
          {error !== null && <Problem title={t.map.failed} error={error} />}
          {withToken !== null && (
            <>
              <CopyBlock text={withToken} what={t.styles.address} />
              <Button
                component="a"
                href={`${MAPUTNIK}${encodeURIComponent(withToken)}`}
                target="_blank"
                rel="noopener noreferrer"
                leftSection={<IconExternalLink size={16} />}
                style={{ alignSelf: 'flex-start' }}
              >
                {e.maputnikOpen}
              </Button>
            </>
          )}
        </Stack>
      </Dialog>
    </>
  )
}

/** True if browsers refuse to load an address in a page that came over https. */
function isRefused(address: string): boolean {
  const { protocol, hostname } = new URL(address, window.location.href)
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
