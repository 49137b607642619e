import type { ListedSliceJob } from '@gateway/contracts/slice.js'
import { isOpen, useCancelSlice } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { CancelButton } from '../../ui/cancel-button.js'
import { jobName } from './job-status.js'

/** Cancels a waiting or running job. Renders nothing for other jobs. */
export function CancelJobButton({ job }: { job: ListedSliceJob }) {
  const t = useTexts().slicing
  const cancel = useCancelSlice(job.id)
  return isOpen(job) ? <CancelButton texts={t} title={t.cancelTitle} name={jobName(job)} write={cancel} /> : null
}
