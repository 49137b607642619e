import type { ListedSliceJob } from '@gateway/contracts/slice.js'
import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { isOpen, useCancelSlice } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { Confirm } from '../../ui/confirm.js'
import { notifyDone } from '../../ui/notify.js'
import { WriteButton } from '../../ui/write-button.js'
import { jobName } from './job-status.js'

/** Cancels a job that waits or runs, after confirmation; nothing for others. */
export function CancelButton({ job }: { job: ListedSliceJob }) {
  const t = useTexts().slicing
  const [opened, { open, close }] = useDisclosure()
  const cancel = useCancelSlice(job.id)
  if (!isOpen(job)) return null
  const confirm = () =>
    cancel.mutate(undefined, {
      onSuccess: () => {
        notifyDone(t.cancelled)
        close()
      },
    })
  return (
    <>
      <WriteButton
        needs="operator"
        size="xs"
        variant="light"
        color="red"
        className="danger"
        onClick={open}
        aria-label={`${t.cancel}: ${jobName(job)}`}
      >
        {t.cancel}
      </WriteButton>
      <Confirm
        opened={opened}
        title={t.cancelTitle}
        action={t.cancel}
        cancel={t.keep}
        danger
        write={cancel}
        command={cancel.commandOf()}
        onConfirm={confirm}
        onClose={close}
        failed={t.cancelFailed}
      >
        <Text>{t.cancelWords}</Text>
      </Confirm>
    </>
  )
}
