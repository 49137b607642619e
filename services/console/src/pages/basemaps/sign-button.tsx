import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import IconSignature from '~icons/signature'
import { useSignUrl } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CopyBlock } from '../../ui/copy.js'
import Modal from '../../ui/modal.js'
import { Problem } from '../../ui/problem.js'
import { shortText } from '../../ui/shown-text.js'
import { Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'

const HOUR = 3_600
const DAY = 24 * HOUR
const LIFETIMES = [HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY]
/** Stands for all versions. No version has an empty label. */
const ALL = ''

/** Creates tile URLs that need no token until they expire. */
export function SignButton({ code, name, versions }: Pick<AdminBasemap, 'code' | 'name' | 'versions'>) {
  const t = useTexts()
  const formats = useFormats()
  const [opened, { open, close }] = useDisclosure()
  const [lifetime, setLifetime] = useState(7 * DAY)
  const [version, setVersion] = useState(ALL)
  const sign = useSignUrl()
  const bodyNow = () => ({
    basemap_code: code,
    ...(version !== ALL && { version }),
    expires_at: new Date(Date.now() + lifetime * 1000).toISOString(),
  })
  const end = () => {
    sign.cancel()
    close()
  }
  const { data: signed } = sign
  const served = versions.filter(({ available, withdrawn }) => available && !withdrawn)
  return (
    <>
      <WriteButton needs="admin" variant="default" icon={IconSignature} onClick={open}>
        {t.signing.sign}
      </WriteButton>
      <Modal opened={opened} onClose={end} title={t.signing.title(shortText(name))} size="lg">
        <Stack>
          {signed === undefined ? (
            <>
              <Text>{t.signing.words}</Text>
              <NativeSelect
                label={t.signing.version}
                value={version}
                data={[
                  { value: ALL, label: t.signing.all },
                  ...served.map(({ version }) => ({ value: version, label: shortText(version) })),
                ]}
                onChange={(event) => setVersion(event.currentTarget.value)}
              />
              <NativeSelect
                label={t.signing.lifetime}
                value={String(lifetime)}
                data={LIFETIMES.map((seconds) => ({ value: String(seconds), label: formats.duration(seconds) }))}
                onChange={(event) => setLifetime(Number(event.currentTarget.value))}
              />
              {sign.error !== null && <Problem title={t.signing.failed} error={sign.error} />}
            </>
          ) : (
            <>
              <Text size="sm">{t.signing.tiles}</Text>
              <CopyBlock text={signed.url_template} what={t.signing.tiles} />
              {'tilejson_url' in signed && (
                <>
                  <Text size="sm">{t.signing.tilejson}</Text>
                  <CopyBlock text={signed.tilejson_url} what={t.signing.tilejson} />
                </>
              )}
              {'archive_url' in signed && signed.archive_url !== null && (
                <>
                  <Text size="sm">{t.signing.archive}</Text>
                  <CopyBlock text={signed.archive_url} what={t.signing.archive} />
                </>
              )}
              <Text size="sm">
                {t.signing.until} <Moment at={signed.expires_at} />.
              </Text>
            </>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={end}>
              {signed === undefined ? t.common.cancel : t.common.close}
            </Button>
            {signed === undefined && (
              <WriteButton needs="admin" loading={sign.isPending} onClick={() => sign.mutate(bodyNow())}>
                {t.signing.create}
              </WriteButton>
            )}
          </Group>
          {signed === undefined && <AsCommand command={() => sign.commandOf(bodyNow())} />}
        </Stack>
      </Modal>
    </>
  )
}
