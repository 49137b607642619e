import type { SliceJob } from '@gateway/contracts/slice.js'
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { isOpen, useCancelSlice } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { Problem } from '../../ui/problem.js'
import { jobName } from './job-status.js'

/** Cancels a job that waits or runs, after asking; of others there is nothing to cancel. */
export function CancelButton({ job }: { job: SliceJob }) {
  const t = useTexts()
  const [opened, { open, close }] = useDisclosure()
  const cancel = useCancelSlice()
  if (!isOpen(job)) return null
  const confirm = () =>
    cancel.mutate(job.id, {
      onSuccess: () => {
        notifyDone(t.slicing.cancelled)
        close()
      },
    })
  return (
    <>
      <Button
        size="xs"
        variant="light"
        color="red"
        className="danger"
        onClick={open}
        aria-label={`${t.slicing.cancel}: ${jobName(job)}`}
      >
        {t.slicing.cancel}
      </Button>
      <Modal opened={opened} onClose={close} title={t.slicing.cancelTitle}>
        <Stack>
          <Text>{t.slicing.cancelWords}</Text>
          {cancel.error !== null && <Problem title={t.slicing.cancelFailed} error={cancel.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.slicing.keep}
            </Button>
            <Button color="red" loading={cancel.isPending} onClick={confirm} data-autofocus>
              {t.slicing.cancel}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
